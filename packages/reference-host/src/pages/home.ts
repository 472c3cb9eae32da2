import type { HostFacts } from './document.ts'

/** Makes the response of `/` for programs: the name of the service, and links. */
export function homeLinks({ serviceName, environment, origin, pages }: HostFacts): object {
  const at = (path: string): string => `${origin}${path}`
  return {
    name: serviceName,
    environment,
    links: {
      ...(pages.helper ? { helper: at('/helper') } : {}),
      ...(pages.docs ? { docs: at('/docs'), errors: at('/errors'), llms: at('/llms.txt') } : {}),
      openapi: at('/openapi.json'),
      jwks: at('/.well-known/jwks.json'),
      health: at('/healthz'),
      readiness: at('/readyz'),
    },
  }
}
