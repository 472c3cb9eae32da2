import { connect } from 'node:net'

/** An HTTP response as text. */
export interface RawResponse {
  readonly status: number
  readonly body: string
}

/** Sends a request with exactly these bytes as its target (a string in latin1), which HTTP clients would reject. */
export async function sendTarget(port: number, method: string, target: string): Promise<RawResponse> {
  const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(head, 'latin1')))
    socket.on('data', chunk => chunks.push(chunk))
    socket.once('error', reject)
    socket.once('close', () => {
      const text = Buffer.concat(chunks).toString('latin1')
      const [first = '', ...rest] = text.split('\r\n\r\n')
      resolve({ status: Number(first.split(' ')[1]), body: rest.join('\r\n\r\n') })
    })
  })
}
