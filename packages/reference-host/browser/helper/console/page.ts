import type { Child } from '../../shared/dom.ts'
import type { ConsoleContext } from './context.ts'
import type { IconName } from './icons.ts'
import type { PageId } from './route.ts'

/** What the drawer of a row shows. */
export interface DrawerContent {
  readonly title: string
  readonly body: readonly Child[]
}

/** A page of the console. `pages.ts` lists all of them in the order of the navigation. */
export interface ConsolePage {
  /** The name in addresses, such as `keys` in `#/keys`. */
  readonly id: PageId
  /** The name in the navigation and the heading of the page. */
  readonly title: string
  readonly icon: IconName
  /** One sentence under the heading. */
  readonly about?: string
  /** Makes the controls beside the heading. */
  readonly actions?: (context: ConsoleContext) => readonly Child[]
  /** Makes the page. Called again by `context.refresh()` and whenever the page is opened. */
  readonly render: (context: ConsoleContext) => readonly Child[]
  /** Makes the drawer of a row, which opens at `#/keys/ID`. The page behind it stays as it is. */
  readonly drawer?: (context: ConsoleContext, id: string) => DrawerContent
}
