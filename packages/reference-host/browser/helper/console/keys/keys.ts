import { button, el } from '../../../shared/dom.ts'
import { readAllKeys } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { showKey } from './key-drawer.ts'
import { keyList } from './key-table.ts'
import type { ConsolePage } from '../page.ts'
import { empty, load } from '../states.ts'
import type { Key } from '../wire.ts'

/** The page of the account's keys. Consoles are sessions of people and are on the page of sessions. */
export const keysPage: ConsolePage = {
  id: 'keys',
  title: 'Keys',
  icon: 'keys',
  about: 'A key lets a program use your account. Creating or rotating one asks your wallet for a signature.',
  actions: context => [button('Create key', () => context.actions.createKey(context.show), 'primary small')],
  render(context) {
    const body = el('div', { class: 'card lines' })
    const reload = (): Promise<void> =>
      load<readonly Key[]>(body, {
        what: 'your keys',
        read: () => readAllKeys(context),
        show: keys => keyList(context, keys, reload),
      })
    void reload()
    return [body]
  },
  drawer(context, id) {
    const body = el('div', { class: 'lines' })
    void loadKey(context, id, body)
    return { title: 'Key', body: [body] }
  },
}

async function loadKey(context: ConsoleContext, id: string, body: HTMLElement): Promise<void> {
  const reload = async (): Promise<void> => {
    context.refresh()
    await loadKey(context, id, body)
  }
  await load<readonly Key[]>(body, {
    what: 'this key',
    read: () => readAllKeys(context),
    show: keys => {
      const key = keys.find(each => each.id === id)
      if (!key) return [empty('No such key.', 'It ended more than 7 days ago.')]
      return showKey(context, key, { keys, problemBox: el('div'), reload })
    },
  })
}
