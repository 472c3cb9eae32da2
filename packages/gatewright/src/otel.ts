export { openTelemetryObserver, type TelemetryOptions } from '@gatewright/http/otel'
