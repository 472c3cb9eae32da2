// Loaded into a host with `--import`: an OpenTelemetry SDK that prints each span as a line of JSON.
import { propagation, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base'

const exporter: SpanExporter = {
  export(spans, done) {
    for (const { name, attributes, parentSpanContext } of spans)
      console.log(JSON.stringify({ span: name, parent: parentSpanContext?.spanId, attributes }))
    done({ code: 0 })
  },
  shutdown: async () => {},
}

trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
)
propagation.setGlobalPropagator(new W3CTraceContextPropagator())
