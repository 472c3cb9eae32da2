import { parseInstant } from '@gatewright/kernel/internal'
import { plainChainId } from './chain-id.ts'
import { parseEip4361, type Eip4361Message } from './eip4361.ts'
import { lineTemplate } from './line-template.ts'
import type { Binding, Template, TemplateInput } from './template.ts'

const STATEMENT = ['Address: {address}', 'Nonce: {nonce}', 'Issued At: {issuedAt}', 'Expires At: {expiresAt}']

/** Template A. Binds nothing beyond wallet, nonce and times. */
export const bootstrap: Template = lineTemplate('A', ['{service} Bootstrap', ...STATEMENT])

/**
 * Template B: the lines of A, then connector, chain and label, each `unknown` where the client sends none. Binds the
 * chain.
 */
export const agentBootstrap: Template = lineTemplate('B', [
  '{service} Consumer Agent Bootstrap',
  ...STATEMENT,
  'Connector: {connector|unknown}',
  'Chain ID: {chainId|unknown}',
  'Wallet Label: {walletLabel|unknown}',
])

/** Template v2: the lines of A, then domain, chain and request digest. Sent as `message`. Binds all three. */
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

/** Prefix of the resource that binds an EIP-4361 message to a request; the request digest follows it. */
export const REQUEST_RESOURCE = 'urn:gatewright:request:sha256:'

/**
 * Sign-In with Ethereum (EIP-4361). Sent as `message`; its fields, `Expiration Time` included, must equal those of the
 * request. Binds the domain (the URI's authority must equal it) and the chain; binds the request when a resource names
 * its digest.
 */
export const signInWithEthereum: Template = {
  name: 'eip4361',
  source: 'message',
  uses: ['address', 'nonce', 'issuedAt', 'expiresAt', 'chainId', 'domain'],
  fieldsOf(text) {
    const message = parseEip4361(text)
    if (!message) return undefined
    const { address, nonce, issuedAt, expirationTime: expiresAt, chainId } = message
    return { address, nonce, issuedAt, expiresAt, chainId }
  },
  read(input) {
    if (input.message === undefined) return { kind: 'other', reason: 'EIP-4361 needs the message' }
    const message = parseEip4361(input.message)
    if (!message) return { kind: 'other', reason: 'message does not follow the grammar of EIP-4361' }
    const binds: Binding[] = ['chain', 'domain']
    const requestResources = (message.resources ?? []).filter(resource =>
      resource.startsWith(REQUEST_RESOURCE),
    )
    if (requestResources.length > 0) binds.push('request')
    const field = findDifference(message, requestResources, input)
    if (field !== undefined) return { kind: 'mismatch', field }
    const notBefore = message.notBefore === undefined ? undefined : parseInstant(message.notBefore)
    return { kind: 'match', text: input.message, binds, chainId: message.chainId, notBefore }
  },
}

/** Returns the name of the first field of the message that differs from the request or the host. */
function findDifference(
  message: Eip4361Message,
  requestResources: readonly string[],
  { fields }: TemplateInput,
): string | undefined {
  // Parsed by a regular expression: a URL parser could normalize what must be equal byte for byte.
  const [, scheme, authority] = /^([^:]+):\/\/([^/?#]*)/.exec(message.uri) ?? []
  const comparisons: [string, boolean][] = [
    ['domain', message.domain === fields['domain']],
    ['uri', authority === fields['domain'] && (message.scheme ?? scheme) === scheme],
    ['address', message.address.toLowerCase() === fields['address']?.toLowerCase()],
    ['chainId', fields['chainId'] === undefined || message.chainId === plainChainId(fields['chainId'])],
    ['nonce', message.nonce === fields['nonce']],
    ['issuedAt', message.issuedAt === fields['issuedAt']],
    ['expiresAt', message.expirationTime === fields['expiresAt']],
    [
      'requestDigest',
      requestResources.every(
        resource =>
          fields['requestDigest'] !== undefined && resource === REQUEST_RESOURCE + fields['requestDigest'],
      ),
    ],
  ]
  return comparisons.find(([, isEqual]) => !isEqual)?.[0]
}
