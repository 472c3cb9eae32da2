import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { type Row, instant, position, table, text } from '@gatewright/host/tables'

/** Folders for cards. */
export const folders = table('gw_card_folders', {
  id: text,
  position,
  accountId: text,
  name: text,
  createdAt: instant,
})
export type Folder = Row<typeof folders>

/** Deletes a folder and removes its cards from it. Lock the folder before. */
export async function deleteFolder(tx: SqlQueries, { accountId, id }: Folder): Promise<void> {
  const empty = 'update gw_cards set folder_id = null where account_id = $1 and folder_id = $2'
  await rows(tx, empty, [accountId, id])
  await rows(tx, 'delete from gw_card_folders where account_id = $1 and id = $2', [accountId, id])
}
