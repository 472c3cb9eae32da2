import type { Page } from './table.ts'

type Header = readonly [name: string, value: string]

/** The content security policy of pages. Trusted Types `'none'`: no text becomes markup or script. */
const POLICY: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
}

/** Every feature that `Permissions-Policy` can switch off and Chromium knows, except writing to the clipboard, which copy buttons need. */
const FEATURES = [
  'accelerometer',
  'autoplay',
  'browsing-topics',
  'camera',
  'clipboard-read',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'gamepad',
  'geolocation',
  'gyroscope',
  'hid',
  'idle-detection',
  'local-fonts',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'publickey-credentials-create',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'storage-access',
  'usb',
  'window-management',
  'xr-spatial-tracking',
]

/** Header fields of documents and assets. None allows another origin to read them. */
const COMMON: readonly Header[] = [
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['Permissions-Policy', [...FEATURES.map(feature => `${feature}=()`), 'clipboard-write=(self)'].join(', ')],
  ['X-Content-Type-Options', 'nosniff'],
]

/** Makes the security header fields of a page and of its assets. */
export function pageHeaders({ policy = {} }: Pick<Page, 'policy'>): readonly Header[] {
  const directives = Object.entries({ ...POLICY, ...policy }).map(([name, value]) => `${name} ${value}`)
  return [['Content-Security-Policy', directives.join('; ')], ...COMMON]
}
