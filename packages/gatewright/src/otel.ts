export { openTelemetryObserver, type TelemetryOptions } from '@gatewright/http/internal/otel'
