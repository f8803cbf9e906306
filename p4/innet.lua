-- Wireshark dissector for the packets of in-network aggregation (SwitchML's format).
--
--   wireshark -X lua_script:p4/innet.lua capture.pcapng
--
-- or put a copy of this file into Wireshark's folder of personal Lua plugins. Filter with, for
-- example, `innet.slot == 3 && innet.asks_help == 1`.

local FIRST_PORT, LAST_PORT = 0xBEE0, 0xBEEF
local HEAD_BYTES = 10
local VALUE_BYTES = 4

local UPDATE, HELP = 1, 2
local TYPES = { [UPDATE] = "Update", [HELP] = "Help" }
local SIZES = { [0] = "32 values", [1] = "64 values", [2] = "128 values", [3] = "256 values" }

local innet = Proto("innet", "In-network aggregation")

local f = {
    type = ProtoField.uint8("innet.type", "Type", base.DEC, TYPES, 0xF0),
    asks_help = ProtoField.uint8("innet.asks_help", "Asks for help", base.DEC, nil, 0x08),
    size = ProtoField.uint8("innet.size", "Size", base.DEC, SIZES, 0x07),
    job = ProtoField.uint8("innet.job", "Job", base.DEC),
    number = ProtoField.uint32("innet.number", "Number", base.DEC),
    set = ProtoField.uint16("innet.set", "Set", base.DEC, nil, 0x8000),
    slot = ProtoField.uint16("innet.slot", "Slot", base.DEC, nil, 0x3FFF),
    exponent = ProtoField.int8("innet.exponent", "Exponent of the next block", base.DEC),
    second_exponent = ProtoField.int8("innet.second_exponent", "Second exponent", base.DEC),
    value = ProtoField.int32("innet.value", "Value", base.DEC),
}
innet.fields = f

local wrong_length = ProtoExpert.new(
    "innet.wrong_length", "The values are not as many as the size says",
    expert.group.MALFORMED, expert.severity.ERROR)
innet.experts = { wrong_length }

-- What a packet is called: an update that comes from the switch is the sum.
local function name_of(kind, from_switch)
    if kind == UPDATE then
        return from_switch and "Sum" or "Update"
    end
    return TYPES[kind] or "Unknown"
end

local function add_values(payload, tree)
    local count = math.floor(payload:len() / VALUE_BYTES)
    local values = tree:add(innet, payload:range(0, payload:len()), "Values: " .. count)
    for place = 0, count - 1 do
        values:add(f.value, payload:range(place * VALUE_BYTES, VALUE_BYTES))
    end
end

function innet.dissector(buffer, pinfo, tree)
    if buffer:len() < HEAD_BYTES then
        return 0
    end
    pinfo.cols.protocol = "INNET"
    local kind = buffer:range(0, 1):bitfield(0, 4)
    local asks_help = buffer:range(0, 1):bitfield(4, 1)
    local size = buffer:range(0, 1):bitfield(5, 3)
    local from_switch = pinfo.src_port >= FIRST_PORT and pinfo.src_port <= LAST_PORT
    local told = string.format("%s, job %d, slot %d, set %d, number %d%s",
        name_of(kind, from_switch), buffer:range(1, 1):uint(), buffer:range(6, 2):bitfield(2, 14),
        buffer:range(6, 2):bitfield(0, 1), buffer:range(2, 4):uint(),
        asks_help == 1 and ", asks for help" or "")
    pinfo.cols.info = told

    local title = "In-network aggregation: " .. told
    local message = tree:add(innet, buffer:range(0, buffer:len()), title)
    message:add(f.type, buffer:range(0, 1))
    message:add(f.asks_help, buffer:range(0, 1))
    message:add(f.size, buffer:range(0, 1))
    message:add(f.job, buffer:range(1, 1))
    message:add(f.number, buffer:range(2, 4))
    message:add(f.set, buffer:range(6, 2))
    message:add(f.slot, buffer:range(6, 2))
    message:add(f.exponent, buffer:range(8, 1))
    message:add(f.second_exponent, buffer:range(9, 1))

    local wanted = 0
    if kind == UPDATE then
        wanted = 32 * 2 ^ size * VALUE_BYTES
    end
    if buffer:len() > HEAD_BYTES then
        add_values(buffer:range(HEAD_BYTES):tvb(), message)
    end
    if buffer:len() - HEAD_BYTES ~= wanted then
        message:add_proto_expert_info(wrong_length)
    end
    return buffer:len()
end

local ports = DissectorTable.get("udp.port")
for port = FIRST_PORT, LAST_PORT do
    ports:add(port, innet)
end
