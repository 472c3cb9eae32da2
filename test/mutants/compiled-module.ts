/** The source of a compiled module. */
export function sourceOf(file: string): string {
  return file.replace('/dist/', '/src/').replace(/\.js$/, '.ts')
}

/** The compiled module of a source. */
export function moduleOf(source: string): string {
  return source.replace('/src/', '/dist/').replace(/\.ts$/, '.js')
}
