(function () {
  const parse = JSON.parse, stringify = JSON.stringify, nunjucks = self.nunjucks;
  const cache = new Map();
  const environment = new nunjucks.Environment([], { autoescape: false });
  environment.addFilter('load', (text) => JSON.parse(text));

  function compiled(text) {
    let template = cache.get(text);
    if (!template) {
      if (cache.size >= 1000) cache.clear();
      template = new nunjucks.Template(text, environment, undefined, true);
      cache.set(text, template);
    }
    return template;
  }

  globalThis.__render = async function (text) {
    const request = parse(text);
    environment.addGlobal('env', request.env);
    const rendered = request.templates.map((template) => {
      try {
        return { Ok: compiled(template).render(request.vars) };
      } catch (error) {
        if (error === null) throw null;
        return { Err: String((error && error.message) || error) };
      }
    });
    return stringify({ rendered });
  };
})()
