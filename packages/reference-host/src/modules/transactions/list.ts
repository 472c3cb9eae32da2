import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import {
  type HostServices,
  type Operation,
  events,
  listOperation,
  readOperation,
  transactions,
} from '@gatewright/host'
import { component } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { csvExport } from '../csv-export.ts'
import { transactionColumns } from './columns.ts'
import { filterOf, transactionFilters } from './filters.ts'
import { detailExample, detailOf, partnerForm, TransactionDetail, userForm } from './wire.ts'

/** The differences between the surfaces: the form of a transaction, and the size of a page. */
const FORMS = {
  user: { form: userForm, listName: 'TransactionList', most: 100 },
  partner: { form: partnerForm, listName: 'PartnerTransactionList', most: 200 },
} as const

/**
 * `GET /user/v1/transactions` and `GET /partner/v1/transactions`: lists the transactions of the account, newest first. `GET
 * /user/v1/transactions/{id}` reads one with what happened to it. `GET /user/v1/transactions.csv` exports them.
 */
export function transactionOperations(services: Pick<HostServices, 'clock' | 'db' | 'report'>): Operation[] {
  return [
    ...(['user', 'partner'] as const).map(surface => listTransactions(surface, services)),
    readTransaction(services),
    exportTransactions(services),
  ]
}

function listTransactions(surface: Surface, { db }: Pick<HostServices, 'db'>): Operation {
  const { form, listName, most } = FORMS[surface]
  return listOperation({
    newestFirst: true,
    id: 'transactions.list',
    title: 'List the transactions, newest first',
    surface,
    path: `/${surface}/v1/transactions`,
    scopes: ['transactions.read'],
    most,
    filters: transactionFilters,
    name: 'transactions',
    component: component(
      listName,
      'A page of transactions. With several filters it can be short before the last one',
    ),
    item: form.schema,
    example: form.example,
    rows: (accountId, page, { query }) => transactions.page(db, accountId, page, filterOf(query)),
    write: rows => rows.map(form.write),
  })
}

const DetailResponse = Type.Object(
  { transaction: TransactionDetail },
  component('TransactionResponse', 'A transaction and what happened to it'),
)

function readTransaction({ db }: Pick<HostServices, 'db'>): Operation {
  return readOperation({
    id: 'transactions.read',
    title: 'Read a transaction and what happened to it',
    paths: ['/user/v1/transactions/{id}'],
    scopes: ['transactions.read'],
    response: DetailResponse,
    example: { transaction: detailExample },
    notFound: deny('not_found', 'no such transaction'),
    async read({ accountId }, id) {
      const found = await transactions.find(db, accountId, id)
      if (!found) return undefined
      const { kind, id: subjectId } = found.source
      const histories = await events.histories(db, accountId, kind, [subjectId])
      return {
        data: { transaction: detailOf(found, histories.get(subjectId) ?? []) },
        summary: `The transaction is ${found.status}.`,
      }
    },
  })
}

function exportTransactions(services: Pick<HostServices, 'clock' | 'db' | 'report'>): Operation {
  return csvExport(services, {
    id: 'transactions.export',
    title: 'Export transactions as CSV',
    path: '/user/v1/transactions.csv',
    scopes: ['transactions.read'],
    filters: transactionFilters,
    columns: transactionColumns,
    page: (accountId, page, query) => transactions.page(services.db, accountId, page, filterOf(query)),
  })
}
