import { parseEip4361, type Eip4361Message } from './eip4361.ts'
import { parseRfc3339 } from './rfc3339.ts'
import { lineTemplate, type Binding, type Template, type TemplateFacts } from './line-template.ts'

const STATEMENT = ['Address: {address}', 'Nonce: {nonce}', 'Issued At: {issuedAt}', 'Expires At: {expiresAt}']

/** Template A. Binds nothing but wallet, nonce and times. */
export const bootstrap: Template = lineTemplate('A', ['{service} Bootstrap', ...STATEMENT])

/** Template B: A with connector, chain and label, each `unknown` where the client sends none. Binds the chain. */
export const agentBootstrap: Template = lineTemplate('B', [
  '{service} Consumer Agent Bootstrap',
  ...STATEMENT,
  'Connector: {connector|unknown}',
  'Chain ID: {chainId|unknown}',
  'Wallet Label: {walletLabel|unknown}',
])

/** Template v2: A with domain, chain and request digest. Sent as `message`. Binds all three. */
export const boundBootstrap: Template = lineTemplate(
  'v2',
  [
    '{service} Bootstrap v2',
    ...STATEMENT,
    'Domain: {domain}',
    'Chain ID: {chainId}',
    'Request: {requestDigest}',
  ],
  'message',
)

/** A resource that binds an EIP-4361 message to a request: this, then the request digest. */
export const REQUEST_RESOURCE = 'urn:gatewright:request:sha256:'

/**
 * Sign-In with Ethereum (EIP-4361). Sent as `message`; the fields must say the same, `Expiration Time` included.
 * Binds the domain (of which the URI must be) and the chain; binds the request when a resource names its digest.
 */
export const signInWithEthereum: Template = {
  name: 'eip4361',
  source: 'message',
  uses: ['address', 'nonce', 'issuedAt', 'expiresAt', 'chainId', 'domain'],
  read(facts) {
    if (facts.message === undefined) return { is: 'other', reason: 'EIP-4361 needs the message' }
    const message = parseEip4361(facts.message)
    if (!message) return { is: 'other', reason: 'message is not of EIP-4361' }
    const binds: Binding[] = ['chain', 'domain']
    const asked = (message.resources ?? []).filter(resource => resource.startsWith(REQUEST_RESOURCE))
    if (asked.length > 0) binds.push('request')
    const field = difference(message, asked, facts)
    if (field !== undefined) return { is: 'contrary', field }
    const notBefore = message.notBefore === undefined ? undefined : parseRfc3339(message.notBefore)
    return { is: 'text', text: facts.message, binds, chainId: message.chainId, notBefore }
  },
}

/** Names the first thing that the message says otherwise than the request and the host. */
function difference(
  message: Eip4361Message,
  asked: readonly string[],
  { fields }: TemplateFacts,
): string | undefined {
  // The text between `scheme://` and the path, so that no URL parser's kindness stands in between.
  const [, scheme, authority] = /^([^:]+):\/\/([^/?#]*)/.exec(message.uri) ?? []
  const same: [string, boolean][] = [
    ['domain', message.domain === fields['domain']],
    ['uri', authority === fields['domain'] && (message.scheme ?? scheme) === scheme],
    ['address', message.address.toLowerCase() === fields['address']?.toLowerCase()],
    ['chainId', fields['chainId'] === undefined || message.chainId === fields['chainId']],
    ['nonce', message.nonce === fields['nonce']],
    ['issuedAt', message.issuedAt === fields['issuedAt']],
    ['expiresAt', message.expirationTime === fields['expiresAt']],
    ['requestDigest', asked.every(resource => resource === REQUEST_RESOURCE + fields['requestDigest'])],
  ]
  return same.find(([, agrees]) => !agrees)?.[0]
}
