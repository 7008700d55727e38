// Sends generated spans in protobuf over sixteen connections, as fast as they are acknowledged. Usage: flood.mjs ADDRESS SPANS
import http from 'node:http';

const [at, wanted] = [process.argv[2], Number(process.argv[3])];
const [host, port] = at.split(':');
const PER_TRACE = 10, TRACES = 50, CONNECTIONS = 16;

const varint = (n) => { const out = []; while (n >= 128) { out.push((n % 128) | 128); n = Math.floor(n / 128); } out.push(n); return Buffer.from(out); };
const bytes = (field, body) => Buffer.concat([varint(field * 8 + 2), varint(body.length), body]);
const text = (field, value) => bytes(field, Buffer.from(value));
const fixed = (field, value) => { const b = Buffer.alloc(9); b[0] = field * 8 + 1; b.writeBigUInt64LE(value, 1); return b; };
const attribute = (key, value) => bytes(9, Buffer.concat([text(1, key), bytes(2, typeof value === 'number' ? Buffer.concat([varint(24), varint(value)]) : text(1, value))]));

const now = BigInt(Date.now()) * 1000000n;
const args = JSON.stringify({ token_in: 'USDC', token_out: 'WETH', amount: '250', chain: 'base' });
const kinds = [
  [attribute('gen_ai.operation.name', 'invoke_agent'), attribute('gen_ai.agent.name', 'trade-executor')],
  [attribute('gen_ai.operation.name', 'chat'), attribute('gen_ai.request.model', 'gpt-x'), attribute('gen_ai.response.model', 'gpt-x-1'), attribute('gen_ai.usage.input_tokens', 812), attribute('gen_ai.usage.output_tokens', 93), attribute('gen_ai.output.messages', '[{"role":"assistant","parts":[{"type":"text","content":"I will ask for a quote of 250 USDC on Base first."}]}]')],
  [attribute('gen_ai.operation.name', 'execute_tool'), attribute('gen_ai.tool.name', 'uniswap_get_quote'), attribute('gen_ai.tool.call.id', 'call_1'), attribute('gen_ai.tool.call.arguments', args), attribute('gen_ai.tool.call.result', '{"amount_out":"0.1","price_impact_bps":3}')],
].map((list) => Buffer.concat(list));

// One body with zeros for ids, and the places of the ids in it.
const places = [];
const zero16 = Buffer.alloc(16), zero8 = Buffer.alloc(8);
const spans = [];
for (let n = 0; n < TRACES * PER_TRACE; n++) {
  const at = n % PER_TRACE;
  const kind = at === 0 ? 0 : 1 + (at % 2);
  const parts = [bytes(1, zero16), bytes(2, zero8), ...(at === 0 ? [] : [bytes(4, zero8)]), text(5, ['invoke_agent trade-executor', 'chat gpt-x', 'execute_tool uniswap_get_quote'][kind]), varint(48), varint(1), fixed(7, now + BigInt(n) * 1000000n), fixed(8, now + BigInt(n + 200) * 1000000n), kinds[kind]];
  const inner = Buffer.concat(parts);
  spans.push({ body: bytes(2, inner), lead: 1 + varint(inner.length).length, child: at !== 0 });
}
const scope = Buffer.concat(spans.map((span) => span.body));
const body = bytes(1, bytes(2, scope));
let offset = body.length - scope.length;
for (const span of spans) {
  // The header of the span, then tag and length before each id.
  const trace = offset + span.lead + 2;
  places.push({ trace, span: trace + 16 + 2, parent: span.child ? trace + 16 + 2 + 8 + 2 : 0 });
  offset += span.body.length;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
let request = 0, acknowledged = 0, busy = 0;
const total = Math.ceil(wanted / (TRACES * PER_TRACE));
const post = (payload) => new Promise((resolve, reject) => {
  const sent = http.request({ host, port, path: '/v1/traces', method: 'POST', agent, headers: { 'content-type': 'application/x-protobuf', 'content-length': payload.length } }, (answer) => {
    answer.resume();
    answer.on('end', () => resolve(answer.statusCode));
  });
  sent.on('error', reject);
  sent.end(payload);
});
const started = Date.now();
const worker = async () => {
  while (request < total) {
    const number = ++request;
    const payload = Buffer.from(body);
    places.forEach((place, n) => {
      const trace = number * TRACES + Math.floor(n / PER_TRACE);
      payload.writeUInt32BE(0xbe70, place.trace);
      payload.writeUInt32BE((Math.imul(trace, 2654435761) >>> 0), place.trace + 4);
      payload.writeUInt32BE(trace, place.trace + 12);
      payload.writeUInt32BE(n % PER_TRACE + 1, place.span + 4);
      if (place.parent) payload.writeUInt32BE(1, place.parent + 4);
    });
    let status;
    while ((status = await post(payload)) === 429) { busy++; await new Promise((r) => setTimeout(r, 200)); }
    if (status !== 200) throw new Error(`status ${status}`);
    acknowledged += TRACES * PER_TRACE;
  }
};
await Promise.all(Array.from({ length: CONNECTIONS }, worker));
const seconds = (Date.now() - started) / 1000;
console.log(`${acknowledged} spans acknowledged in ${seconds.toFixed(1)} s: ${Math.round(acknowledged / seconds)} spans per second; ${busy} answers of 429`);
const metrics = () => new Promise((resolve, reject) => http.get({ host, port, path: '/metrics' }, (answer) => {
  let all = '';
  answer.on('data', (part) => { all += part; });
  answer.on('end', () => resolve(all));
}).on('error', reject));
const count = (all, name) => Number(all.match(new RegExp(`^bardo_eval_${name} (\\d+)$`, 'm'))?.[1] ?? 0);
let all = await metrics();
if (count(all, 'spans_stored_total') !== acknowledged) throw new Error(`stored ${count(all, 'spans_stored_total')} of ${acknowledged}`);
while (count(all, 'open_traces') > 0) {
  await new Promise((r) => setTimeout(r, 500));
  all = await metrics();
}
const whole = (Date.now() - started) / 1000;
console.log(`all traces decided after ${whole.toFixed(1)} s: ${Math.round(acknowledged / whole)} spans per second; ${count(all, 'traces_kept_total')} kept, ${count(all, 'traces_dropped_total')} removed`);
agent.destroy();
