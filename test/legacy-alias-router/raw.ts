import { connect } from 'node:net'

/** An HTTP answer as text, read to the end of its connection. */
export interface RawAnswer {
  readonly status: number
  readonly body: string
}

/** Sends a request whose target is exactly these bytes (a string in latin1), which no HTTP client would do. */
export async function sendTarget(port: number, method: string, target: string): Promise<RawAnswer> {
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
