/**
 * The part of a script that appends to the feed. A script runs alone, so positions grow in commit order; the
 * stream's ids are the positions. The message on the channel only wakes readers.
 */
export const APPEND = `
local function append(stream, channel, entries, from)
  local position
  for index = from, #entries do
    position = redis.call('INCR', stream .. ':position')
    redis.call('XADD', stream, string.format('%.0f', position) .. '-0', 'entry', entries[index])
  end
  if position then redis.call('PUBLISH', channel, position) end
end
`
