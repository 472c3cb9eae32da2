/**
 * Lua function that appends to the feed. Redis runs one script at a time, so positions grow in commit order; the ids of
 * the stream are the positions. The message on the channel only wakes readers.
 */
export const APPEND_FEED = `
local function append(stream, channel, entries, from)
  local position
  for index = from, #entries do
    position = redis.call('INCR', stream .. ':position')
    redis.call('XADD', stream, string.format('%.0f', position) .. '-0', 'entry', entries[index])
  end
  if position then redis.call('PUBLISH', channel, position) end
end
`
