export { openTelemetryObserver } from '@gatewright/http/internal/otel'
export type { TelemetryOptions } from '@gatewright/http'
