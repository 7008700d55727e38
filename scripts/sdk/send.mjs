// Sends one trace by the GenAI conventions with the OpenTelemetry SDK of JavaScript: an agent, two model calls, a tool and a delegation.
import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';

const [wire, at] = process.argv.slice(2);
const exporters = {
  'http-proto': () => new ProtoExporter({ url: `http://${at}/v1/traces`, compression: 'gzip' }),
  'http-json': () => new JsonExporter({ url: `http://${at}/v1/traces` }),
  grpc: () => new GrpcExporter({ url: `http://${at}`, compression: 'gzip' }),
};
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporters[wire]())] });
provider.register();
const tracer = provider.getTracer('bardo-eval-check');

const within = (span, work) => context.with(trace.setSpan(context.active(), span), work);
const message = (role, content) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
const chat = (said) => {
  const span = tracer.startSpan('chat gpt-x', {
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt-x', 'gen_ai.response.model': 'gpt-x-1',
      'gen_ai.usage.input_tokens': 120, 'gen_ai.usage.output_tokens': 34,
      'gen_ai.input.messages': message('user', 'What would 250 USDC buy on Base?'), 'gen_ai.output.messages': message('assistant', said),
    },
  });
  span.end();
};
const agent = tracer.startSpan('invoke_agent trade-executor', {
  attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'trade-executor', 'test.wire': `js ${wire}` },
});
within(agent, () => {
  chat('I will ask for a quote.');
  const tool = tracer.startSpan('execute_tool uniswap_get_quote', {
    attributes: {
      'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'uniswap_get_quote', 'gen_ai.tool.call.id': 'call_1',
      'gen_ai.tool.call.arguments': JSON.stringify({ token_in: 'USDC', token_out: 'WETH', amount: '250', chain: 'base' }),
      'gen_ai.tool.call.result': JSON.stringify({ amount_out: '0.1' }),
    },
  });
  tool.setStatus({ code: SpanStatusCode.OK });
  tool.end();
  const guardian = tracer.startSpan('invoke_agent safety-guardian', {
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'safety-guardian' },
  });
  within(guardian, () => chat('Approved.'));
  guardian.end();
});
agent.end();
console.log(`js ${wire} ${agent.spanContext().traceId}`);
await provider.shutdown();
