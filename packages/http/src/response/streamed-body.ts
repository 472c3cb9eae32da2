/**
 * A body that is sent piece by piece, as fast as the client reads it, and never held whole. For the responses of `KoaGate.serve` only;
 * it cannot be stored for replays.
 *
 * `return()` of the iterator is called when the client disconnects or reads nothing for 30 seconds, and when no body is sent, as in a response
 * to HEAD. A disconnected client is noticed at the next chunk only, so an iterator that waits long should give empty chunks meanwhile.
 * If the iterator throws, the connection ends before the body does, so the client sees that the body is incomplete.
 */
export class StreamedBody {
  readonly chunks: AsyncIterable<string>

  constructor(chunks: AsyncIterable<string>) {
    this.chunks = chunks
  }
}
