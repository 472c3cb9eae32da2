import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlRow, type SqlValue } from '@gatewright/kernel/sql'
import { defer, rowLock, toInteger } from '@gatewright/kernel/internal/sql'
import type { Column, Given, Group } from './columns.ts'

export type Members = Readonly<Record<string, Column<unknown> | Group<unknown>>>
export type OwnedMembers = Members & {
  readonly id: Column<string, 'required'>
  readonly accountId: Column<string, 'required'>
}
type TypeOf<M> = M extends Column<infer T> ? T : M extends Group<infer T> ? T : never
type Keys<M, G extends Given> = { [K in keyof M]: M[K] extends { given: G } ? K : never }[keyof M]

/** A record of a table. */
export type RecordOf<M> = { readonly [K in keyof M]: TypeOf<M[K]> }
/** The members that an insert gives. */
export type NewRecordOf<M> = { readonly [K in Keys<M, 'required'>]: TypeOf<M[K]> } & {
  readonly [K in Keys<M, 'optional'>]?: TypeOf<M[K]>
}
/** The type of a table's records: `Row<typeof bills>`. */
export type Row<T> = T extends HostTable<infer R, never> ? R : never

/** A page of a list: up to `limit` rows after the position `after`. */
export interface PageOf {
  /** 0: from the start. */
  readonly after: number
  readonly limit: number
  /** Which row comes first. Default `newest`. */
  readonly order?: 'newest' | 'oldest'
  /**
   * Given: the newest row by its time of creation comes first, and by `position` among those of one millisecond. The table needs the column
   * `created_at`, and an index that ends with it and `position`.
   */
  readonly created?: CreatedPage | undefined
}

/** Which rows a page by their time of creation has. */
interface CreatedPage {
  /** When the row at the position `after` was created. Undefined: from the start. */
  readonly after: EpochMs | undefined
  /** Only rows that were created at this time or later. */
  readonly from?: EpochMs | undefined
  /** Only rows that were created before this time. */
  readonly to?: EpochMs | undefined
}

/** Returns the SQL of a page after `where account_id = $1`, and adds its values. */
export function pageSql({ after, limit, order = 'newest', created }: PageOf, values: SqlValue[]): string {
  const place = (value: SqlValue): string => `$${values.push(value)}`
  if (created) {
    const { after: at, from = 0, to = Number.MAX_SAFE_INTEGER } = created
    const start = at === undefined || at >= to ? { at: to, position: 0 } : { at, position: after }
    return ` and (created_at, position) < (${place(start.at)}, ${place(start.position)}) and created_at >= ${place(from)}
      order by created_at desc, position desc limit ${place(limit)}`
  }
  if (order === 'oldest') return ` and position > ${place(after)} order by position limit ${place(limit)}`
  const before = after === 0 ? Number.MAX_SAFE_INTEGER : after
  return ` and position < ${place(before)} order by position desc limit ${place(limit)}`
}

/**
 * The rows of a table that belong to the host, such as jobs: statements of their own find and change them. Faults of all:
 * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
 */
export interface HostTable<R, N> {
  /** The name of the table in SQL text. */
  readonly name: string
  /** The columns of a record, for SQL text. */
  readonly columns: string
  /** Inserts a row and returns it; undefined if a row with the same key exists already. */
  insert(tx: SqlQueries, row: N): Promise<R | undefined>
  /**
   * Inserts a row in the round trip of the next statement of the transaction or of its commit, which fails if a row with the same key
   * exists already.
   */
  add(tx: SqlQueries, row: N): Promise<void>
  /** Reads a row of a custom statement. */
  read(row: SqlRow): R
  /** Returns the rows for conditions in SQL: `where ... order by ...`. Those on a table of accounts must restrict the account. */
  select(db: SqlQueries, conditions: string, values: readonly SqlValue[]): Promise<R[]>
}

/**
 * The rows of a table in which each row belongs to one account. Reads and writes need the account, so that ids of other
 * accounts are never found. `insert` returns undefined if the account has a row with the
 * id already.
 */
export interface Table<R, N> extends HostTable<R, N> {
  find(db: SqlQueries, accountId: string, id: string): Promise<R | undefined>
  /** Finds a row and locks it until the transaction ends. */
  lock(tx: SqlQueries, accountId: string, id: string): Promise<R | undefined>
  /** Returns a page of the account's rows by `position`, a member that the table must have, or by `created`. `equal` filters. */
  page(db: SqlQueries, accountId: string, page: PageOf, equal?: Partial<R>): Promise<R[]>
  /**
   * Counts the account's rows, with `condition` only those that meet it. `condition` is SQL text, so that the database can use
   * an index with the same condition: pass a constant.
   */
  count(db: SqlQueries, accountId: string, condition?: string): Promise<number>
  /** Changes members of a row, and returns the row as it is then. Lock the row before. Throws when the row does not exist. */
  update<T extends Partial<R>>(tx: SqlQueries, row: T, changes: Partial<R>): Promise<T>
}

/** How a member is stored. */
interface StoredMember {
  readonly columns: readonly string[]
  read(row: SqlRow): unknown
  write(value: unknown): readonly SqlValue[]
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

function storedMember(key: string, member: Column<unknown> | Group<unknown>): StoredMember {
  if (!('columns' in member)) {
    const name = member.name ?? snakeCase(key)
    return {
      columns: [name],
      read: row => member.fromSql(row[name]),
      write: value => [member.toSql(value)],
    }
  }
  const parts = Object.entries(member.columns).map(([part, column]) => {
    const name = column.name ?? snakeCase(part)
    return { part, column, name }
  })
  const [first] = parts.map(({ name }) => name) as [string]
  return {
    columns: parts.map(({ name }) => name),
    read(row) {
      if (member.given === 'optional' && row[first] === null) return null
      const value: Record<string, unknown> = {}
      for (const { part, column, name } of parts) value[part] = column.fromSql(row[name])
      return value
    },
    write: value =>
      parts.map(({ part, column }) =>
        value === null ? null : column.toSql((value as Readonly<Record<string, unknown>>)[part]),
      ),
  }
}

/** How the members of a table are stored, and the statements that every table has. */
function storedTable<M extends Members>(name: string, members: M) {
  type R = RecordOf<M>
  const entries = Object.entries(members).map(
    ([member, column]) => [member, storedMember(member, column)] as const,
  )
  const stored = new Map(entries)
  const storedOf = (member: string): StoredMember => {
    const found = stored.get(member)
    if (!found) throw new TypeError(`${name} has no member ${member}`)
    return found
  }
  const columns = entries.flatMap(([, member]) => member.columns).join(', ')
  const read = (row: SqlRow): R => {
    const record: Record<string, unknown> = {}
    for (const [key, member] of entries) record[key] = member.read(row)
    return record as R
  }
  const select = async (db: SqlQueries, conditions: string, values: readonly SqlValue[]): Promise<R[]> =>
    (await rows(db, `select ${columns} from ${name} ${conditions}`, values)).map(read)
  /** Returns the columns and values of the given members. */
  const assigned = (given: object): { readonly names: string[]; readonly values: SqlValue[] } => {
    const present = Object.entries(given).filter(([, value]) => value !== undefined)
    return {
      names: present.flatMap(([key]) => storedOf(key).columns),
      values: present.flatMap(([key, value]) => storedOf(key).write(value)),
    }
  }
  const insertion = (row: NewRecordOf<M>): { readonly text: string; readonly values: SqlValue[] } => {
    const { names, values } = assigned(row)
    const places = names.map((_, index) => `$${index + 1}`)
    return { text: `insert into ${name} (${names.join(', ')}) values (${places.join(', ')})`, values }
  }
  const insert = async (tx: SqlQueries, row: NewRecordOf<M>): Promise<R | undefined> => {
    const { text, values } = insertion(row)
    const [inserted] = await rows(tx, `${text} on conflict do nothing returning ${columns}`, values)
    return inserted && read(inserted)
  }
  const add = (tx: SqlQueries, row: NewRecordOf<M>): Promise<void> => {
    const { text, values } = insertion(row)
    return defer(tx, text, values)
  }
  return { assigned, table: { name, columns, insert, add, read, select } }
}

/**
 * Declares a table of the host for queries: its name and the members of its records. It does not create the table. Names of
 * tables and columns become part of the SQL text: pass constants, never a text of a request.
 */
export function hostTable<M extends Members>(
  name: string,
  members: M,
): HostTable<RecordOf<M>, NewRecordOf<M>> {
  return storedTable(name, members).table
}

/** Declares a table of accounts, whose DDL ends with `{by account_id}`: see `hostTable`. */
export function table<M extends OwnedMembers>(name: string, members: M): Table<RecordOf<M>, NewRecordOf<M>> {
  const { assigned, table: all } = storedTable(name, members)
  const { select } = all
  const first = async (db: SqlQueries, conditions: string, values: readonly SqlValue[]) =>
    (await select(db, conditions, values))[0]
  return {
    ...all,
    find: (db, accountId, id) => first(db, 'where id = $1 and account_id = $2', [id, accountId]),
    lock: (tx, accountId, id) =>
      first(tx, `where id = $1 and account_id = $2${rowLock(tx, 'for update')}`, [id, accountId]),
    page(db, accountId, page, equal = {}) {
      const { names, values } = assigned(equal)
      const all: SqlValue[] = [accountId, ...values]
      const equals = names.map((column, index) => ` and ${column} = $${index + 2}`).join('')
      return select(db, `where account_id = $1${equals}${pageSql(page, all)}`, all)
    },
    async count(db, accountId, condition = 'true') {
      const text = `select count(*) as n from ${name} where account_id = $1 and ${condition}`
      return toInteger((await rows(db, text, [accountId]))[0]?.['n'])
    },
    async update(tx, row, changes) {
      const { names, values } = assigned(changes)
      if (names.length === 0) return row
      const set = names.map((column, index) => `${column} = $${index + 3}`).join(', ')
      const text = `update ${name} set ${set} where id = $1 and account_id = $2 returning id`
      const { id, accountId } = row as { readonly id: string; readonly accountId: string }
      const [updated] = await rows(tx, text, [id, accountId, ...values])
      if (!updated) throw new Error(`${name} has no row ${id} of its account`)
      return { ...row, ...changes }
    },
  }
}
