import type { Config } from './config.ts'

/** Returns the host's own origin, such as `https://pay.example`. A sandbox without `PUBLIC_URL` uses the address it listens on. */
export function originOf({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  return new URL(publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`).origin
}
