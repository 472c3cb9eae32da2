import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, ledgerWrite, listOperation } from '@gatewright/host'
import { component, instant, nameText, text } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { lockAccount } from '../users/lock-account.ts'
import * as examples from '../examples.ts'
import { deleteFolder, folders, type Folder } from './store.ts'

const MAX_FOLDERS = 100
const FolderSchema = Type.Object(
  { id: text('Names the folder'), name: text('What it is called'), createdAt: instant('When it was made') },
  component('Folder', 'A folder for cards'),
)
const ResponseData = Type.Object({ folder: FolderSchema }, component('FolderResponse', 'A folder'))
const Deleted = Type.Object(
  { id: text('Named the folder'), deletedAt: instant('When it was deleted') },
  component('DeletedFolder', 'A folder that was deleted. Its cards are in no folder now'),
)
const Body = Type.Object({ name: nameText(1, 80) }, component('FolderRequest', 'What a folder is called'))
const example = { id: 'fld_5c0de3a1b2f44d2f9f0a1b2c3d4e5f60', name: 'Travel', createdAt: examples.AT }
const common = { surface: 'user', credential: 'session' } as const
const write = { ...common, scopes: ['folders.write'], spends: false } as const
const body = { name: 'Travel' }
const noSuchFolder = deny('not_found', 'no folder has this id')
const data = ({ id, name, createdAt }: Folder) => ({ id, name, createdAt: new Date(createdAt).toISOString() })

/** Makes the operations on folders of cards. */
export function folderOperations({ db, clock }: Pick<HostServices, 'db' | 'clock'>): Operation[] {
  return [
    listOperation({
      id: 'folders.list',
      title: 'List the folders, oldest first',
      path: '/user/v1/folders',
      scopes: ['folders.read'],
      name: 'folders',
      component: component('FolderList', 'A page of folders, oldest first'),
      item: FolderSchema,
      example,
      rows: (accountId, page) => folders.page(db, accountId, { ...page, order: 'oldest' }),
      write: rows => rows.map(data),
    }),
    ledgerWrite({
      ...write,
      id: 'folders.create',
      title: 'Make a folder',
      method: 'POST',
      idempotency: 'optional',
      paths: ['/user/v1/folders'],
      body: Body,
      response: ResponseData,
      example: { body, response: { folder: example } },
      async write({ caller: { session }, body: { name } }, { tx, effectId }) {
        const { accountId } = session
        await lockAccount(tx, accountId)
        const [id, now] = [`fld_${effectId}`, clock.now()]
        const known = await folders.find(tx, accountId, id)
        if (!known && (await folders.count(tx, accountId)) >= MAX_FOLDERS)
          return deny('policy_blocked', `the account has ${MAX_FOLDERS} folders: delete one first`, {
            details: { rule: 'max_folders' },
          })
        const folder =
          known ?? ((await folders.insert(tx, { id, accountId, name, createdAt: now })) as Folder)
        return allow({ data: { folder: data(folder) }, summary: 'The folder is made.' })
      },
    }),
    ledgerWrite({
      ...write,
      id: 'folders.change',
      title: 'Rename a folder',
      method: 'PATCH',
      idempotency: 'none',
      paths: ['/user/v1/folders/{folderId}'],
      body: Body,
      response: ResponseData,
      denies: [404],
      example: { body, response: { folder: example } },
      async write({ caller: { session }, params, body: { name } }, { tx }) {
        const folder = await folders.lock(tx, session.accountId, params['folderId'] as string)
        if (!folder) return noSuchFolder
        const renamed = await folders.update(tx, folder, { name })
        return allow({ data: { folder: data(renamed) }, summary: 'The folder is renamed.' })
      },
    }),
    ledgerWrite({
      ...write,
      id: 'folders.delete',
      title: 'Delete a folder; its cards stay',
      method: 'DELETE',
      paths: ['/user/v1/folders/{folderId}'],
      idempotency: 'none',
      response: Deleted,
      denies: [404],
      example: { response: { id: example.id, deletedAt: examples.AT } },
      async write({ caller: { session }, params }, { tx }) {
        const folder = await folders.lock(tx, session.accountId, params['folderId'] as string)
        if (!folder) return noSuchFolder
        await deleteFolder(tx, folder)
        const deletedAt = new Date(clock.now()).toISOString()
        return allow({ data: { id: folder.id, deletedAt }, summary: 'The folder is deleted.' })
      },
    }),
  ]
}
