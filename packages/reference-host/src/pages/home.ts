import type { HostFacts } from './document.ts'

/** What `/` says to programs: what this is, and where the rest is. */
export function homeLinks({ serviceName, environment, origin, pages }: HostFacts): object {
  const at = (path: string): string => `${origin}${path}`
  return {
    name: serviceName,
    environment,
    links: {
      ...(pages.helper ? { helper: at('/helper') } : {}),
      ...(pages.docs ? { docs: at('/docs') } : {}),
      openapi: at('/openapi.json'),
      jwks: at('/.well-known/jwks.json'),
      health: at('/healthz'),
      readiness: at('/readyz'),
    },
  }
}
