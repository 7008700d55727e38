(function () {
  // Taken before the code of others runs, which may replace the globals.
  const parse = JSON.parse, stringify = JSON.stringify, F = Function, R = RegExp, E = Error;
  const test = (pattern, text) => pattern.test(text);

  function load(source) {
    const module = { exports: {} };
    const commonJs = source.replace(/^export\s+default\s+/m, 'module.exports = ');
    new F('module', 'exports', commonJs)(module, module.exports);
    return module.exports;
  }

  function callee(exported, call) {
    const found = call.name ? exported && exported[call.name] : exported;
    const main = found && typeof found !== 'function' && found.default ? found.default : found;
    if (call.method && typeof main === 'function' && main.prototype && typeof main.prototype[call.method] === 'function') {
      const instance = new main(...call.constructor);
      return (...args) => instance[call.method](...args);
    }
    if (call.method && main && typeof main === 'object' && typeof main[call.method] === 'function') {
      return (...args) => main[call.method](...args);
    }
    if (typeof main !== 'function') throw new E('the file does not export a function' + (call.name ? ' ' + call.name : ''));
    return main;
  }

  function run(request) {
    switch (request.kind) {
      case 'body': return new F('output', 'context', request.source)(request.output, request.context);
      case 'module': return callee(load(request.source), request.call)(...request.call.arguments);
      case 'regex': return test(new R(request.source), request.text);
    }
  }

  return async function (text) {
    let value;
    try {
      value = await run(parse(text));
    } catch (error) {
      // Out of memory is the exception null; the caller tells it apart.
      if (error === null) throw null;
      const message = error && error.message !== undefined ? (error.name || 'Error') + ': ' + error.message : String(error);
      return stringify({ threw: message });
    }
    const kind = typeof value;
    if (kind === 'number' && !(value - value === 0)) return stringify({ returned: { kind, value: '' + value } });
    if (kind === 'function' || kind === 'symbol' || kind === 'bigint') return stringify({ returned: { kind, value: null } });
    let json;
    try {
      json = stringify({ returned: { kind, value: value === undefined ? null : value } });
    } catch (error) {
      return stringify({ threw: 'its answer is not JSON: ' + (error && error.message) });
    }
    return json;
  };
})()
