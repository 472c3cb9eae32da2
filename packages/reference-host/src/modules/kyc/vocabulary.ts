/** A code and all the words that clients send for it. The first word is the code itself, which is stored. */
type Words = readonly [code: string, ...also: string[]]

const SALARIES: readonly Words[] = [
  ['0-40000', '<40k'],
  ['50000-75000', '50k–99k'],
  ['100000-149000', '100k–149k'],
  ['150000+', '150k+'],
]
const VOLUMES: readonly Words[] = [
  ['0-1000', 'under $1k'],
  ['1000-5000', '$1k–$5k'],
  ['5000-20000', '$5k–$20k'],
  ['20000+', '$20k+'],
]
/** Why somebody opens an account. */
export const PURPOSES: readonly string[] = [
  'everyday spend',
  'subscriptions',
  'business expenses',
  'testing',
  'other',
]
/** The words that a field accepts: those of both vocabularies, on both surfaces, with a hyphen or an en dash. */
interface Vocabulary {
  /** The words that `kyc.values` shows. */
  readonly shown: readonly string[]
  /** Every accepted word. */
  readonly taken: readonly string[]
  codeOf(word: string): string
}

function vocabulary(all: readonly Words[]): Vocabulary {
  const codes = new Map(
    all.flatMap(words =>
      words.flatMap(word =>
        [word, word.replaceAll('–', '-'), word.replaceAll('-', '–')].map(each => [each, words[0]] as const),
      ),
    ),
  )
  return {
    shown: all.flatMap(words => words.slice(0, 2)),
    taken: [...codes.keys()],
    codeOf: word => codes.get(word) as string,
  }
}

export const salaries: Vocabulary = vocabulary(SALARIES)
export const volumes: Vocabulary = vocabulary(VOLUMES)
