"""Sends one trace with the OpenTelemetry SDK of Python: an agent whose calls of the OpenAI client are recorded by a GenAI instrumentation.
The model is a server on loopback that answers with a tool call, then with a text."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from openai import OpenAI
from opentelemetry import trace
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

wire, at = sys.argv[1:]
if wire == "grpc":
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=f"http://{at}", insecure=True)
else:
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=f"http://{at}/v1/traces", compression=Compression.Gzip)

ARGS = {"token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base"}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answered = any(message["role"] == "tool" for message in request["messages"])
        call = {"id": "call_1", "type": "function", "function": {"name": "uniswap_get_quote", "arguments": json.dumps(ARGS)}}
        message = {"role": "assistant", "content": "About 0.1 WETH."} if answered else {"role": "assistant", "content": None, "tool_calls": [call]}
        body = json.dumps({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-x-1",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop" if answered else "tool_calls"}],
            "usage": {"prompt_tokens": 120, "completion_tokens": 34, "total_tokens": 154},
        }).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(exporter))
trace.set_tracer_provider(provider)
OpenAIInstrumentor().instrument()
tracer = trace.get_tracer("bardo-eval-check")
client = OpenAI(api_key="sk-test-0123456789abcdef0123", base_url=f"http://127.0.0.1:{server.server_port}/v1")
tools = [{"type": "function", "function": {"name": "uniswap_get_quote", "parameters": {"type": "object", "properties": {"amount": {"type": "string"}}}}}]
messages = [{"role": "user", "content": "What would 250 USDC buy on Base?"}]

with tracer.start_as_current_span("invoke_agent trade-executor", attributes={
    "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "trade-executor", "test.wire": f"py {wire}",
}) as agent:
    reply = client.chat.completions.create(model="gpt-x", messages=messages, tools=tools)
    call = reply.choices[0].message.tool_calls[0]
    messages.append({"role": "assistant", "content": None, "tool_calls": [call.model_dump()]})
    with tracer.start_as_current_span("execute_tool uniswap_get_quote", attributes={
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.function.name, "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": call.function.arguments, "gen_ai.tool.call.result": json.dumps({"amount_out": "0.1"}),
    }):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps({"amount_out": "0.1"})})
    client.chat.completions.create(model="gpt-x", messages=messages, tools=tools)
    with tracer.start_as_current_span("invoke_agent safety-guardian", attributes={
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "safety-guardian",
    }):
        pass
    print(f"py {wire} {agent.get_span_context().trace_id:032x}")
provider.shutdown()
