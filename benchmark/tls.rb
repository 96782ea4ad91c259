# frozen_string_literal: true

# The claim: TLS on a stream takes no more CPU time than Ruby's OpenSSL on a blocking socket.
#
#   ruby -Ilib benchmark/tls.rb [ROUNDS]
#
# The server is a process of its own, on Ruby's OpenSSL. The contenders alternate in this process; the received bytes are counted or
# compared. Times are this process's CPU time. Ratios are of medians, to OpenSSL.

require "pelton"
require_relative "support/measuring"
require_relative "../test/support/certificates"

ROUNDS = Integer(ARGV[0] || 7)
ANSWERS = 2_000
BULK = 16 << 20
HANDSHAKES = 100

IDENTITY = Certificates.server
listener = TCPServer.new("127.0.0.1", 0)
PORT = listener.addr[1]
server = fork do
  context = OpenSSL::SSL::SSLContext.new.tap { |one| one.add_certificate(IDENTITY.x509, IDENTITY.private_key) }
  loop do
    socket = listener.accept
    Thread.new do
      Thread.current.report_on_exception = false
      secure = OpenSSL::SSL::SSLSocket.new(socket, context).tap { |one| one.sync = one.sync_close = true }.accept
      while (line = secure.gets)
        secure.write("x" * line.to_i)
      end
    end
  end
end
at_exit { Process.kill(:KILL, server) }

CONTEXT = OpenSSL::SSL::SSLContext.new.tap do |context|
  context.verify_mode = OpenSSL::SSL::VERIFY_PEER
  context.cert_store = OpenSSL::X509::Store.new.tap { |store| store.add_cert(OpenSSL::X509::Certificate.new(Certificates.authority)) }
end
TRUST = Pelton::TLS::Context.new(ca_file: Certificates.authority, resumption: false)

def open_socket
  OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", PORT), CONTEXT).tap { |one| one.sync = one.sync_close = true }.connect
end

def open_stream = Pelton.connect("127.0.0.1", PORT, tls: TRUST)

def answers(connection)
  ANSWERS.times do
    connection.write("5\n")
    connection.readpartial(100) == "xxxxx" || raise("another answer came")
  end
end

def bulk(connection, buffer = +"")
  connection.write("#{BULK}\n")
  left = BULK
  left -= connection.readpartial(65_536, buffer).bytesize while left > 0
  raise "#{-left} bytes more came" if left < 0
end

socket = open_socket
stream = open_stream
TASKS = {
  "answers" => {openssl: -> { answers(socket) }, pelton: -> { Pelton.run { answers(stream) } }},
  "bulk" => {openssl: -> { bulk(socket) }, pelton: -> { Pelton.run { bulk(stream) } }},
  "handshakes" => {
    openssl: -> { HANDSHAKES.times { open_socket.close } },
    pelton: -> { Pelton.run { HANDSHAKES.times { open_stream.close } } }
  }
}.freeze

TASKS.each do |name, contenders|
  times = {openssl: [], pelton: []}
  contenders.each_value(&:call) # warms up
  ROUNDS.times { contenders.each { |who, task| times[who] << processor_time(&task) } }
  openssl, pelton = times.values.map { |all| median(all) }
  puts format("%-12s %5.2f x OpenSSL", name, pelton / openssl)
end
