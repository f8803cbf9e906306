-- As much of Wireshark's Lua API as the dissector uses, in Lua 5.2, with strings for packets.
-- `dissect(bytes, source_port, target_port)` returns the fields found, in order.

local function enum() return setmetatable({}, { __index = function(_, name) return name end }) end
base, expert = enum(), { group = enum(), severity = enum() }

ProtoField = setmetatable({}, { __index = function(_, kind)
    return function(abbreviation, name, shown, strings, mask)
        return { kind = kind, abbreviation = abbreviation, mask = mask }
    end
end })
ProtoExpert = { new = function(abbreviation) return { abbreviation = abbreviation } end }

function Proto(name) return { name = name } end

local tables = {}
DissectorTable = { get = function(name)
    return { add = function(_, key, proto) tables[name] = tables[name] or {}; tables[name][key] = proto end }
end }

local function bits(text, first, count)
    local value = 0
    for place = first, first + count - 1 do
        local byte = text:byte(math.floor(place / 8) + 1)
        value = value * 2 + math.floor(byte / 2 ^ (7 - place % 8)) % 2
    end
    return value
end

local Range = {}
Range.__index = Range
function Range:range(first, count)
    assert(first + (count or 0) <= #self.text, "beyond the end of the packet")
    local last = count and first + count or #self.text
    return setmetatable({ text = self.text:sub(first + 1, last) }, Range)
end
function Range:tvb() return self end
function Range:len() return #self.text end
function Range:bitfield(first, count) return bits(self.text, first, count) end
function Range:uint() return bits(self.text, 0, 8 * #self.text) end

local function value_of(field, range)
    local width = tonumber(field.kind:match("%d+"))
    assert(width == 8 * range:len(), field.abbreviation .. " has another length")
    local value = range:uint()
    if field.mask then
        local shift = 0
        while math.floor(field.mask / 2 ^ shift) % 2 == 0 do shift = shift + 1 end
        return bit32.rshift(bit32.band(value, field.mask), shift)
    end
    local signed = field.kind:sub(1, 1) == "i"
    return signed and value >= 2 ^ (width - 1) and value - 2 ^ width or value
end

function dissect(bytes, source_port, target_port)
    local found, tree = {}, {}
    function tree:add(what, range)
        if what.abbreviation then
            found[#found + 1] = { what.abbreviation, value_of(what, range) }
        end
        return tree
    end
    function tree:add_proto_expert_info(info)
        found[#found + 1] = { info.abbreviation, 1 }
    end
    local ports = tables["udp.port"]
    local proto = ports[target_port] or ports[source_port]
    local pinfo = { cols = {}, src_port = source_port, dst_port = target_port }
    local taken = proto.dissector(setmetatable({ text = bytes }, Range), pinfo, tree)
    return found, pinfo.cols.info, taken
end
