import { DEFAULT_LIMITS } from './rate-limits.ts'
import { UNSUPPORTED, variables } from './variables.ts'

/** The text of `docs/configuration.md`, generated from the table of variables. */
export function configurationPage(): string {
  const rows = Object.entries(variables).map(
    ([name, { defaultText, meaning }]) => `| \`${name}\` | ${defaultText} | ${meaning} |`,
  )
  return `# Configuration

Environment variables only, read once at start. All problems are listed together, each by its variable, and the process ends with 1.
An empty variable counts as unset. This page is made by \`npm run docs:update\`.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}

\`RATE_LIMITS\` takes ${Object.keys(DEFAULT_LIMITS)
    .map(name => `\`${name}\``)
    .join(', ')}. Windows are fixed: around the edge of two windows up to twice a limit can pass.
\`documentsPerAddressPerMinute\` is counted for each of \`/openapi.json\`, \`/metrics\`, \`/readyz\` and \`/.well-known/jwks.json\` by itself, in each process; \`/healthz\` has no limit.
\`failedCredentialsPerAddressPerMinute\` refuses nothing by itself: over it, tokens and keys of that address that are not known yet wait in a bounded lane, and only what overflows the lane gets 429.

\`PAYIN_RECEIVERS\` is an array of objects, one for each token that is taken:

| Field | Meaning |
|---|---|
| \`chainId\` | An integer that \`RPC_URLS\` names |
| \`asset\` | What clients call the token, such as \`USDC\`: 1 to 16 letters, digits, dots, hyphens or underscores. Once a chain, in any case of letters |
| \`token\` | Address of the ERC-20 contract. One unit counts as one US dollar |
| \`decimals\` | Of the token, 2 to 36 |
| \`receiver\` | The address that all accounts pay to; the sender tells whose payment it is |
| \`depositAddresses\` | Optional addresses that each serve one payment, ever, so that anybody may send it. Each is listed once, and is no receiver and no token |
| \`xpub\` | Optional, in place of \`depositAddresses\`: an extended public key (BIP-32) that an address is derived from for each payment that needs one. Of depth 3 (\`m/44'/60'/account'\`; its addresses are \`0/index\`) or 4 (\`m/44'/60'/account'/0\`). [subscriptions.md](subscriptions.md#deposit-addresses) says what to know |
| \`confirmations\` | Optional, 1 to 10000, default 12: how many blocks must hold a payment, its own included |

\`[{"chainId":8453,"asset":"USDC","token":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","decimals":6,"receiver":"0x..."}]\`; addresses in mixed case must have
their checksum (EIP-55). The endpoints in \`RPC_URLS\` must take JSON-RPC batches of 3. One whose nodes lag behind each other should keep a batch on one node: a node that
lags finds no payments in blocks it has not seen.

Refused at start, because this version does nothing with it: ${UNSUPPORTED.map(name => `\`${name}\``).join(', ')}.

## Live

\`GATEWRIGHT_ENV=live\` starts only with \`DATABASE_URL\`, \`KEY_PEPPERS\`, \`SIGNING_KEY_ENCRYPTION_KEY\`, \`TRUST_PROXY\`, an https \`PUBLIC_URL\` and a \`SERVICE_NAME\`
other than \`Gatewright\` and \`Gatewright Sandbox\`. It never starts with \`RATE_LIMITS=off\` or \`REQUIRE_HTTPS=off\`, with a block in \`TRUST_PROXY\` that is
wider than /8 (IPv4) or /7 (IPv6), such as \`0.0.0.0/0\`, \`::/0\` or the two halves of either, or with plain http in \`RPC_URLS\` beyond \`localhost\`, \`127.0.0.0/8\`
and \`[::1]\` unless \`RPC_PRIVATE_NETWORK=on\`. It generates no secrets, makes no sandbox partner, and accepts a partner key only after
\`gatewright partner-keys validate\`.
`
}
