import { isIP } from 'node:net'
import { isPublicAddress } from '@gatewright/kernel/internal/address'

const MAX_LENGTH = 500

/**
 * Says what is wrong with the URL of an endpoint. Undefined: nothing. A live host sends only by https and to public addresses; the addresses of
 * a name are checked at each connection.
 */
export function validateEndpointUrl(text: string, environment: 'sandbox' | 'live'): string | undefined {
  if (text.length > MAX_LENGTH) return `URL must have at most ${MAX_LENGTH} characters`
  if (!URL.canParse(text)) return 'URL must be a URL, such as https://shop.example/webhooks'
  const { protocol, hostname, username, password, hash } = new URL(text)
  if (username !== '' || password !== '') return 'URL must have no user name or password'
  if (hash !== '') return 'URL must have no #fragment'
  const live = environment === 'live'
  if (protocol !== 'https:' && (live || protocol !== 'http:'))
    return live ? 'URL must be https' : 'URL must be http or https'
  const address = hostname.replace(/^\[|\]$/g, '')
  if (live && isIP(address) !== 0 && !isPublicAddress(address)) return 'URL must name a public address'
  return undefined
}
