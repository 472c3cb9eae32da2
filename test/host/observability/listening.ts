import type { ChildProcess } from 'node:child_process'

/** The address of a host, once it says that it is ready. */
export function listening({ stdout }: ChildProcess): Promise<string> {
  let output = ''
  return new Promise(resolve => {
    stdout?.on('data', chunk => {
      output += String(chunk)
      const [, url] = /listens on (\S+)\n[^]*^Ready\./m.exec(output) ?? []
      if (url !== undefined) resolve(url)
    })
  })
}
