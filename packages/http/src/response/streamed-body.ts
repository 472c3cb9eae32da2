/**
 * A body that is sent piece by piece, as fast as the client reads it, and never held whole. For the responses of `KoaGate.serve` only;
 * it cannot be stored for replays. When the client disconnects, or reads nothing for 30 seconds, `return()` of the iterator is called,
 * and also where nothing is sent, as in a response to HEAD. An iterator that waits long without a chunk should give empty ones, because a
 * client that has gone is noticed at the next chunk only.
 * If the iterator throws, the connection ends before the body does, so the client sees that the body is incomplete.
 */
export class StreamedBody {
  readonly chunks: AsyncIterable<string>

  constructor(chunks: AsyncIterable<string>) {
    this.chunks = chunks
  }
}
