-- A wrk script: sends payments drawn at random from a file until the time is over, each with a key of its own, and prints how many were made
-- and how long they took. To the times wrk adds those of requests that a slow one kept it from sending.
-- Arguments: the file, a Lua table of {path, headers, body}; the beginning of the keys; a seed.
local payments, prefix, sent = {}, '', 0

function init(arguments)
  payments, prefix = dofile(arguments[1]), arguments[2]
  math.randomseed(tonumber(arguments[3]))
end

function request()
  sent = sent + 1
  local path, headers, body = unpack(payments[math.random(#payments)])
  headers['idempotency-key'] = prefix .. sent
  return wrk.format('POST', path, headers, body)
end

function response(status, _, body)
  if status == 200 then return end
  io.write('returned ', status, ': ', body, '\n')
  io.flush()
  os.exit(1)
end

function done(summary, latency)
  local errors = summary.errors
  if errors.connect + errors.read + errors.write + errors.timeout > 0 then io.write('connections failed\n') end
  io.write('made ', summary.requests, '\n')
  for index = 1, #latency do
    local micros, count = latency(index)
    io.write('took ', micros, ' ', count, '\n')
  end
end
