-- A wrk script: sends the requests of a file in turn until `count` of them got `status`.
-- Arguments: the file, a Lua table of {method, path, headers, body}; count; status.
local requests, sent, received = {}, 0, 0
local count, status

function init(arguments)
  requests = dofile(arguments[1])
  count, status = tonumber(arguments[2]), tonumber(arguments[3])
end

function request()
  sent = sent + 1
  local method, path, headers, body = unpack(requests[(sent - 1) % #requests + 1])
  return wrk.format(method, path, headers, body)
end

-- wrk has no number of requests to stop at, and its main thread sleeps to the end of its time.
local function stop(code, text)
  io.write(text, '\n')
  io.flush()
  os.exit(code)
end

function response(got)
  if got ~= status then stop(1, 'returned ' .. got) end
  received = received + 1
  if received == count then stop(0, 'done') end
end
