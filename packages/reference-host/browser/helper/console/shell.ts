import { short } from '../../shared/address.ts'
import { copyButton } from '../../shared/copy.ts'
import { button, el, fill } from '../../shared/dom.ts'
import { readHost } from '../../shared/host.ts'
import { showWhole, type IsShown } from '../screen.ts'
import { isTestWallet } from '../test-wallet.ts'
import type { ConsoleContext } from './context.ts'
import { openDrawer, type Drawer } from './drawer.ts'
import { frozenBanner } from './frozen-banner.ts'
import { icon } from './icons.ts'
import type { ConsolePage } from './page.ts'
import { PAGES } from './pages.ts'
import { addressOf, parseAddress, type Route } from './route.ts'

/** The console on the screen: its navigation and the open page. */
export interface Shell {
  readonly isShown: IsShown
  /** Shows what the address names. A drawer of the page that is open already leaves that page as it is. */
  follow(): void
  /** Makes the open page again. */
  refresh(): void
  /** Writes filters of the open page into the address, and leaves the page as it is. */
  setFilters(filters: Readonly<Record<string, string>>): void
}

/** How many pages are in the bar of a phone, beside "More". */
const IN_BAR = 4

/** Shows the console at the address of the window. */
export function mountShell(context: ConsoleContext, signOut: () => Promise<void>): Shell {
  const nav = navigation(context, signOut)
  const frozen = frozenBanner(context)
  const heading = el('h1', { tabindex: -1 })
  const beside = el('div', { class: 'buttons' })
  const about = el('p', { class: 'muted' })
  const content = el('div', { class: 'page-content' })
  const panel = el(
    'div',
    { class: 'console-page' },
    frozen.element,
    el('div', { class: 'page-head' }, heading, beside),
    about,
    content,
  )
  let shown: ConsolePage | undefined
  /** The filters with which the page was made. */
  let filters = ''
  let drawer: Drawer | undefined
  /** Whether the list was open before the drawer, so that closing the drawer is a step back. */
  let cameFromList = false

  const open = (page: ConsolePage): void => {
    heading.textContent = page.title
    fill(beside, ...(page.actions?.(context) ?? []))
    about.textContent = page.about ?? ''
    document.title = `${page.title} · ${readHost().serviceName}`
    content.style.minBlockSize = ''
    fill(content, ...page.render(context))
    void frozen.read()
  }
  const closeDrawer = (): void => {
    drawer?.close()
    drawer = undefined
  }
  const leaveDrawer = (page: ConsolePage): void => {
    if (cameFromList) return history.back()
    history.replaceState(null, '', addressOf(page.id))
    follow()
  }
  const follow = (): void => {
    const { row, page: name, query } = currentRoute()
    const page = PAGES.find(({ id }) => id === name) as ConsolePage
    const isSame = page === shown
    closeDrawer()
    nav.mark(page)
    if (!isSame || row === undefined) cameFromList = row === undefined
    if (!isSame || (row === undefined && query.toString() !== filters)) {
      const isFirst = shown === undefined
      shown = page
      filters = query.toString()
      open(page)
      if (!isSame) scrollTo(0, 0)
      if (!isFirst && !isSame) heading.focus()
    }
    if (row !== undefined && page.drawer)
      drawer = openDrawer(page.drawer(context, row), () => leaveDrawer(page))
  }
  const skip = el('a', { class: 'skip', href: '#main' }, 'Skip to content')
  // The address names the page, so the link must not change it.
  skip.addEventListener('click', event => {
    event.preventDefault()
    heading.focus()
  })
  const isShown = showWhole([skip, nav.element, panel])
  follow()
  return {
    isShown,
    follow,
    refresh() {
      // The height stays while the content is read again, so that nothing jumps.
      content.style.minBlockSize = `${content.offsetHeight}px`
      if (shown) fill(content, ...shown.render(context))
      void frozen.read()
    },
    setFilters(next) {
      if (!shown) return
      filters = new URLSearchParams(next).toString()
      history.replaceState(null, '', addressOf(shown.id, { query: next }))
    },
  }
}

/** Reads the address. One that names no page becomes that of the overview. */
function currentRoute(): Route {
  const route = parseAddress(location.hash)
  if (route && PAGES.some(({ id }) => id === route.page)) return route
  history.replaceState(null, '', addressOf('overview'))
  return { page: 'overview', row: undefined, query: new URLSearchParams() }
}

function navigation(
  context: ConsoleContext,
  signOut: () => Promise<void>,
): { readonly element: HTMLElement; mark(page: ConsolePage): void } {
  const links = PAGES.map(({ id, title, icon: name }, place) =>
    el(
      'a',
      { href: addressOf(id), class: place < IN_BAR ? 'nav-link' : 'nav-link in-more' },
      icon(name),
      el('span', {}, title),
    ),
  )
  const more = el(
    'button',
    { type: 'button', class: 'nav-link nav-more', 'aria-expanded': 'false' },
    icon('more'),
    el('span', {}, 'More'),
  )
  const element = el(
    'nav',
    { class: 'console-nav', 'aria-label': 'Your account' },
    el('ul', {}, ...links.map(link => el('li', {}, link))),
    more,
    accountBox(context, signOut),
  )
  const open = (isOpen: boolean): void => {
    element.classList.toggle('open', isOpen)
    more.setAttribute('aria-expanded', String(isOpen))
  }
  more.addEventListener('click', () => open(!element.classList.contains('open')))
  element.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') open(false)
  })
  return {
    element,
    mark(page) {
      open(false)
      for (const [place, link] of links.entries())
        if (PAGES[place] === page) link.setAttribute('aria-current', 'page')
        else link.removeAttribute('aria-current')
      more.classList.toggle('current', PAGES.indexOf(page) >= IN_BAR)
    },
  }
}

function accountBox({ session }: ConsoleContext, signOut: () => Promise<void>): HTMLElement {
  const { address, wallet } = session
  return el(
    'div',
    { class: 'nav-account' },
    el(
      'p',
      { class: 'copied' },
      short(address),
      copyButton('address', () => address),
    ),
    isTestWallet(wallet)
      ? el('p', {}, el('span', { class: 'badge warn' }, 'Test wallet'))
      : el('p', { class: 'muted small' }, wallet.name),
    button('Sign out', signOut, 'small'),
  )
}
