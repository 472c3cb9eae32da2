import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import { ownedRows, type OwnedRows } from '../../records/owned-rows.ts'

/** A folder for cards. */
export interface Folder {
  readonly id: string
  readonly position: number
  readonly name: string
  readonly createdAt: EpochMs
}

/** The card folders of all accounts. */
export interface FolderStore extends Pick<OwnedRows<Folder>, 'insert' | 'find' | 'lock'> {
  /** Up to `limit` folders of the account after position `after`, oldest first. */
  page(db: SqlQueries, accountId: string, after: number, limit: number): Promise<Folder[]>
  count(db: SqlQueries, accountId: string): Promise<number>
  /** Returns undefined for an unknown id. */
  rename(tx: SqlQueries, accountId: string, id: string, name: string): Promise<Folder | undefined>
  /** Deletes a folder; its cards lose it. Lock the folder before. */
  delete(tx: SqlQueries, accountId: string, id: string): Promise<void>
}

/** Makes the folder store of a SQL database. */
export function folderStore(dialect: SqlDialect): FolderStore {
  const { insert, find, lock } = ownedRows(dialect, 'gw_card_folders', toFolder)
  return {
    insert,
    find,
    lock,
    async page(db, accountId, after, limit) {
      const text = `select * from gw_card_folders where account_id = $1 and position > $2
        order by position limit $3`
      return (await rows(db, text, [accountId, after, limit])).map(toFolder)
    },
    async count(db, accountId) {
      const text = 'select count(*) as n from gw_card_folders where account_id = $1'
      const [row] = await rows(db, text, [accountId])
      return toInteger(row?.['n'])
    },
    async rename(tx, accountId, id, name) {
      const text = 'update gw_card_folders set name = $3 where account_id = $1 and id = $2 returning *'
      const [row] = await rows(tx, text, [accountId, id, name])
      return row && toFolder(row)
    },
    async delete(tx, accountId, id) {
      const empty = 'update gw_cards set folder_id = null where account_id = $1 and folder_id = $2'
      await rows(tx, empty, [accountId, id])
      await rows(tx, 'delete from gw_card_folders where account_id = $1 and id = $2', [accountId, id])
    },
  }
}

function toFolder(row: SqlRow): Folder {
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    name: toText(row['name']),
    createdAt: toInteger(row['created_at']),
  }
}
