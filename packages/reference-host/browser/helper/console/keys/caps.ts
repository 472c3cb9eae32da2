import { button, el, fill, type Child } from '../../../shared/dom.ts'
import { whenHostIsBack } from '../../../shared/host-away.ts'
import { keyName, readAllKeys } from '../all-keys.ts'
import { capBar } from './cap-bar.ts'
import { tightestFirst } from './cap-words.ts'
import type { ConsoleContext } from '../context.ts'
import { readCaps } from './read-caps.ts'
import { empty, load, problemNote, section, skeleton } from '../states.ts'
import { isLive, type Cap, type Key } from '../wire.ts'

/** Makes the section with the caps of every live key: how much of each is used, held and free. */
export function limitsSection(context: ConsoleContext): HTMLElement {
  const body = el('div', { class: 'lines' })
  const show = (keys: readonly Key[]): Child[] => {
    const live = keys.filter(key => !key.console && isLive(key))
    if (live.length === 0) return [noKeys(context)]
    const blocks = live.map(key => ({ key, element: el('div', { class: 'key-caps' }) }))
    const rest = el('p', { class: 'muted' })
    const closest = el('ul', { class: 'cap-list closest' }, el('li', {}, skeleton('your limits')))
    void readAll(context, blocks, rest).then(read => fill(closest, ...closestBars(read, live.length)))
    const all = blocks.map(({ element }) => element)
    return [
      closest,
      el('details', {}, el('summary', {}, 'All limits'), el('div', { class: 'lines' }, ...all, rest)),
    ]
  }
  const what = { what: 'your limits', read: () => readAllKeys(context), show }
  void load(body, what)
  return section(
    'Closest to their limits',
    [body],
    button('Refresh', () => load(body, what), 'small'),
  )
}

/** How many limits the overview shows. */
const CLOSEST = 3

/**
 * Makes the bars of the caps of which the smallest part is left. A cap that keys below inherit is shown once, for its own key. `keys` are
 * all whose caps should have been read.
 */
function closestBars(read: ReadonlyMap<Block, readonly Cap[]>, keys: number): Child[] {
  const own = [...read].flatMap(([{ key }, caps]) =>
    caps.filter(cap => !cap.inherited && cap.window !== 'operation').map(cap => ({ key, cap })),
  )
  const left = ({ cap: { cap, remaining } }: (typeof own)[number]): number =>
    cap === 0 ? 0 : remaining / cap
  const closest = own.toSorted((a, b) => left(a) - left(b)).slice(0, CLOSEST)
  const bars = closest.map(({ key, cap }) =>
    capBar(cap, false, el('span', { class: 'muted small' }, 'of ', keyName(key))),
  )
  const note = (text: string): HTMLElement => el('li', { class: 'muted' }, text)
  if (read.size < keys) return [...bars, note('The limits of some keys cannot be shown.')]
  return bars.length > 0 ? bars : [note('No key has a limit on what it spends over time.')]
}

const noKeys = ({ actions, show }: ConsoleContext): HTMLElement =>
  empty(
    'You have no keys, so there is nothing to limit.',
    'A key lets a program use your account. You choose what it may do, and how much it may spend.',
    button('Create key', () => actions.createKey(show), 'primary'),
  )

interface Block {
  readonly key: Key
  readonly element: HTMLElement
}

/** Reads the caps of all keys, a few at a time. At the end it marks the caps that come from a key above. */
async function readAll(
  context: ConsoleContext,
  blocks: readonly Block[],
  rest: HTMLElement,
): Promise<ReadonlyMap<Block, readonly Cap[]>> {
  const read = new Map<Block, readonly Cap[]>()
  await readCaps(
    context,
    blocks.map(({ key }) => key.id),
    (place, caps) => {
      const block = blocks[place] as Block
      if (caps.ok) {
        read.set(block, caps.data)
        show(block, caps.data, () => undefined)
      } else if (caps.problem.status === 0) whenHostIsBack(context.refresh)
      else fill(block.element, problemNote('The limits of a key cannot be shown.', caps.problem))
    },
  )
  for (const [block, caps] of read) show(block, caps, cap => originOf(cap, ownerOf(cap, read)))
  const unlimited = [...read.values()].filter(({ length }) => length === 0).length
  if (unlimited === 0) {
    rest.remove()
    return read
  }
  rest.textContent =
    unlimited === 1
      ? '1 key has no limit: it may spend the whole balance, if its scopes move money.'
      : `${unlimited} keys have no limit: they may spend the whole balance, if their scopes move money.`
  return read
}

/** Finds the live key whose own cap this is: the newest, since during a rotation the old key has it, too. */
function ownerOf({ policyId }: Cap, read: ReadonlyMap<Block, readonly Cap[]>): Key | undefined {
  const holders = [...read].filter(([, caps]) =>
    caps.some(cap => cap.policyId === policyId && !cap.inherited),
  )
  return holders.map(([block]) => block.key).toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))[0]
}

/** Returns where a cap comes from, in words; undefined for a cap of the key itself. */
type OriginOf = (cap: Cap) => Child

function originOf({ inherited }: Cap, owner: Key | undefined): Child {
  if (!inherited) return undefined
  return el('span', { class: 'muted small' }, owner ? `from key ${keyName(owner)}` : 'from a key above')
}

function show({ key, element }: Block, caps: readonly Cap[], origin: OriginOf): void {
  if (caps.length === 0) return fill(element)
  const sorted = tightestFirst(caps)
  const bars = sorted.map((cap, place) => capBar(cap, place === 0 && sorted.length > 1, origin(cap)))
  const name = el('h3', { class: 'key-name' }, 'Key ', keyName(key))
  fill(element, name, el('ul', { class: 'cap-list' }, ...bars))
}
