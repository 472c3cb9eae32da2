import { CARDS } from './tables/cards.ts'
import { MONEY } from './tables/money.ts'
import { PAYINS } from './tables/payins.ts'
import { PEOPLE } from './tables/people.ts'
import { WEBHOOKS } from './tables/webhooks.ts'

/** The DDL of the tables of this product, for `migrate` of the kernel: one text for Postgres and SQLite. */
export const DDL: string = `-- version 1\n${PEOPLE}${CARDS}${PAYINS}${MONEY}${WEBHOOKS}`
