// A host or command of a next version of this software: the same, with further versions of some tables. NEXT_VERSION says how many there are:
// 2 adds, 3 then removes what version 2 no longer needs.
import { migrate, type SqlClient } from '@gatewright/kernel/sql'

const dist = `${process.cwd()}/packages`
const load = (path: string): Promise<unknown> => import(`${dist}/${path}`)
const { product } = (await load('reference-host/dist/composition/host.js')) as {
  product: { readonly modules: { tables: (db: SqlClient) => Promise<void> }[] }
}
const { DDL: host } = (await load('host/dist/storage/host-tables.js')) as { DDL: string }
const { DDL: ofProduct } = (await load('reference-host/dist/product/product-tables.js')) as { DDL: string }

const CHANGES: Readonly<
  Record<string, { readonly ddl: string; readonly adds: string; readonly removes: string }>
> = {
  host: {
    ddl: host,
    adds: `alter table {prefix}events add column note text;

alter table {prefix}events alter column number type bigint;

create table {prefix}notes (account_id {id} primary key, body text) {by account_id};`,
    removes: 'alter table {prefix}events drop column note;',
  },
  product: {
    ddl: ofProduct,
    adds: "alter table {prefix}users add column nickname text not null default '';",
    removes: 'alter table {prefix}users drop column nickname;',
  },
}

const newest = Number(process.env['NEXT_VERSION'])
product.modules.push({
  async tables(db) {
    for (const [namespace, { ddl, adds, removes }] of Object.entries(CHANGES)) {
      const versions = [`-- version 2\n${adds}`, `-- version 3, least 2\n${removes}`].slice(0, newest - 1)
      await migrate(db, { namespace, ddl: [ddl, ...versions].join('\n') })
    }
  },
})

await load(`reference-host/dist/${process.argv.length > 2 ? 'cli/main' : 'main'}.js`)
