import { el } from '../../shared/dom.ts'
import { markField } from './mark-field.ts'

/** The field for those whom a key may pay. */
export interface PayeeField {
  readonly element: HTMLElement
  /** The names of payees; undefined if one is wrong. */
  read(): readonly string[] | undefined
  /** Marks a wrong name and focuses the field. Returns whether all are right. */
  check(): boolean
}

/** Makes the field for those whom a key may pay. Empty: everyone. */
export function payeeField(): PayeeField {
  const input = el('textarea', {
    class: 'input mono',
    id: 'payees',
    rows: 2,
    spellcheck: false,
    autocomplete: 'off',
    placeholder: 'Everyone',
    'aria-describedby': 'payees-help payees-wrong',
  })
  const wrong = el('p', { class: 'wrong', id: 'payees-wrong' })
  const read = (): readonly string[] | undefined => parsePayees(input.value)
  return {
    element: el(
      'div',
      { class: 'field' },
      el('label', { for: 'payees' }, 'Pays only'),
      input,
      el(
        'p',
        { class: 'help', id: 'payees-help' },
        'One a line: a wallet, biller:City Power, merchant:Corner Shop, country:DE, mcc:5411 or plan:basic.',
      ),
      wrong,
    ),
    read,
    check() {
      const help = 'Type a wallet, or a kind, a colon and a name, such as biller:City Power.'
      const isRight = markField({ input, wrong, isRight: read() !== undefined, help })
      if (!isRight) input.focus()
      return isRight
    },
  }
}

const WALLET = /^0x[\da-f]{40}$/i
/** Only the kind, to find typing errors: the host decides how a name is written. */
const PAYEE = /^(?:account|wallet|biller|address|merchant|mcc|country|plan):./

/** Reads payees, one a line. A wallet gets its kind. Undefined if a line has no kind. */
export function parsePayees(typed: string): readonly string[] | undefined {
  const lines = typed.split('\n').map(line => line.trim())
  const found = lines.filter(line => line !== '')
  const names = found.map(line => (WALLET.test(line) ? `wallet:${line.toLowerCase()}` : line))
  return names.every(name => PAYEE.test(name)) ? names : undefined
}
