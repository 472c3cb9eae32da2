/**
 * Lua function that appends to the feed. Redis runs one script at a time, so positions grow in commit order; the ids of the
 * stream are the positions. A position is at least the server's time in ms: after a failover to a replica that lags, a plain
 * counter would repeat positions, and guards that had read further would miss the next revocations. The message on the channel
 * only wakes readers.
 */
export const APPEND_FEED = `
local function append(stream, channel, entries, from)
  local position
  local clock = redis.call('TIME')
  local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
  for index = from, #entries do
    position = math.max(tonumber(redis.call('GET', stream .. ':position') or '0') + 1, now)
    redis.call('SET', stream .. ':position', string.format('%.0f', position))
    redis.call('XADD', stream, string.format('%.0f', position) .. '-0', 'entry', entries[index])
  end
  if position then redis.call('PUBLISH', channel, string.format('%.0f', position)) end
end
`
