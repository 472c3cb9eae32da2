import { oneOf, optional, variable, type ValuesOf, onOff, wholeNumber } from '@gatewright/host/config'
import type { PayinReceiver } from '../chain/receivers.ts'
import type { Plan } from '../product/plans.ts'
import type { Product } from '../product/product.ts'
import { chainUrls } from './chain-urls.ts'
import { plansFile } from './plans.ts'
import { productFile } from './product-file.ts'
import { payinReceivers } from './receivers.ts'

/** The variables of this product, beside those of every host, in the order of the documentation. */
export const variables = {
  ONBOARDING_GATES: optional(
    oneOf('on', 'partner'),
    '`partner`, live `on`',
    'The surfaces on which an account must be identified and must have accepted the agreements before it creates cards or moves money: `on` means both, `partner` the partner surface only. Live requires `on`',
  ),
  PRODUCT_FILE: optional<Product>(
    productFile,
    'none; a sandbox has sample texts',
    'JSON file of `support`, `spotlight` and `agreements`, see below',
  ),
  RPC_URLS: variable<readonly { readonly chainId: number; readonly url: string }[]>(
    chainUrls,
    [],
    'none',
    'JSON-RPC endpoints by chain id, joined by commas: `1=https://...` or `eip155:1=https://...`. Contract wallets (ERC-1271) of these chains may sign',
  ),
  RPC_PRIVATE_NETWORK: variable(
    onOff,
    false,
    '`off`',
    '`on` declares that the network to the nodes of `RPC_URLS` is private, so that live allows plain http to other machines. Anyone who can change a reply in that network can forge a payment',
  ),
  PLANS_FILE: optional<readonly Plan[]>(
    plansFile,
    'none; a sandbox has the plans `basic` and `pro`',
    'JSON file of the plans that users can subscribe to: `{"plans":[{"id":"basic","title":"Basic","amountCents":500,"interval":"month"}]}`; `interval` is `month` or `year`',
  ),
  PAYIN_RECEIVERS: variable<readonly PayinReceiver[]>(
    payinReceivers,
    [],
    'none, which means no payments on chains',
    'JSON array of the receivers of ERC-20 payments, see below. `RPC_URLS` must name their chains',
  ),
  CHAIN_POLL_SECONDS: variable(
    wholeNumber(1, 300),
    5,
    '`5`',
    '1 to 300. How often each chain of `PAYIN_RECEIVERS` is polled for payments',
  ),
  UNPAID_PAYIN_DAYS: variable(
    wholeNumber(7, 3650),
    30,
    '`30`',
    'How long a pay-in that ended unpaid is kept after its deadline, 7 to 3650 days. Paid ones are kept for good, and those with a deposit address of their own',
  ),
  DECLINED_AUTHORIZATION_DAYS: variable(
    wholeNumber(30, 3650),
    400,
    '`400`',
    'How long a declined card authorization and its transaction are kept, 30 to 3650 days. Then its id is unknown: a network that repeats it gets a new decision',
  ),
  HELPER_PAGE: variable(
    onOff,
    true,
    '`on`',
    '`on` serves `/helper`, where a wallet signs in in a browser, makes a key or approves a command line',
  ),
  DOCS_PAGE: variable(
    onOff,
    true,
    '`on`',
    '`on` serves `/docs`, the API reference with forms that send requests',
  ),
} as const

/** The parsed values of the variables of this product, by name. */
export type Values = ValuesOf<typeof variables>

/** Variables that this version does not support. With one of them the host does not start, since it would have no effect. */
export const UNSUPPORTED = ['SIGNING_KEYS'] as const
