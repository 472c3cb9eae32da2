import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { debianProgram, onPath } from '../binaries.ts'

/** Chromium for browser tests: how to start it. */
export interface Chromium {
  readonly from: string
  readonly path: string
  readonly env: Readonly<Record<string, string>>
}

/** Chromium: CHROMIUM_PATH, the machine's unless CHROMIUM_UNPACK is set, or Debian's package unpacked. */
export function chromiumBinary(): Chromium {
  const given = process.env['CHROMIUM_PATH']
  if (given) return { from: 'CHROMIUM_PATH', path: given, env: {} }
  const installed = process.env['CHROMIUM_UNPACK'] ? undefined : onPath('chromium')
  if (installed) return { from: 'the machine', path: installed, env: {} }
  // Its `bin` holds a script that names /usr, so the program itself is started.
  const packages = ['chromium', 'fonts-dejavu-core', 'fonts-liberation']
  const debian = debianProgram('chromium', 'chromium', packages, 'lib/chromium')
  if (!debian)
    throw new Error(
      'no Chromium for the browser tests: install Debian package chromium, or set CHROMIUM_PATH',
    )
  return { from: 'Debian package, unpacked', path: join(debian.bin, 'chromium'), env: unpackedEnv(debian) }
}

/** Where the unpacked program finds its libraries and fonts. */
function unpackedEnv({
  root,
  env,
}: {
  readonly root: string
  readonly env: Record<string, string>
}): Record<string, string> {
  const fonts = join(root, '..', 'fonts.conf')
  if (!existsSync(fonts)) {
    const folders = [join(root, 'share/fonts'), '/usr/share/fonts'].map(path => `<dir>${path}</dir>`).join('')
    const cache = `<cachedir>${join(root, '..', 'fonts-cache')}</cachedir>`
    writeFileSync(fonts, `<?xml version="1.0"?><fontconfig>${folders}${cache}</fontconfig>\n`)
  }
  // A library of PulseAudio names its folder below /usr.
  const libraries = env['LD_LIBRARY_PATH'] ?? ''
  return { LD_LIBRARY_PATH: `${libraries}:${join(libraries, 'pulseaudio')}`, FONTCONFIG_FILE: fonts }
}
