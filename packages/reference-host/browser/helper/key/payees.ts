import { listField, type ListField } from './list-field.ts'

/** Makes the field for those whom a key may pay. Empty: everyone. */
export function payeeField(): ListField {
  return listField({
    id: 'payees',
    label: 'Pays only',
    placeholder: 'Everyone',
    help: 'One a line: a wallet, biller:City Power, merchant:Corner Shop, country:DE, mcc:5411 or plan:basic.',
    correction: 'Type a wallet, or a kind, a colon and a name, such as biller:City Power.',
    parse: parsePayees,
  })
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
