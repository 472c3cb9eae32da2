import { lineTemplate, type Template } from './template.ts'

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
