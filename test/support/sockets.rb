# frozen_string_literal: true

require "socket"

# Plain clients of a server on 127.0.0.1, which may be in any process.
module Sockets
  module_function

  # Whether somebody listens at the port.
  def listens?(port)
    TCPSocket.new("127.0.0.1", port).close
    true
  rescue SystemCallError
    false
  end

  # What a server answers to these bytes, up to the connection's end.
  #
  # @param place [Integer, String] a port, or the path of a UNIX socket
  def answer_from(place, bytes)
    socket = place.to_s.include?("/") ? UNIXSocket.new(place) : TCPSocket.new("127.0.0.1", place)
    socket.write(bytes)
    socket.read
  ensure
    socket&.close
  end

  # Ruby's own client of TLS, which has shaken hands. It trusts everybody, unless the context says otherwise. Whoever
  # calls it has required OpenSSL.
  #
  # @param name [String, nil] the server's, for SNI
  # @param session [OpenSSL::SSL::Session, nil] to resume
  # @return [OpenSSL::SSL::SSLSocket]
  def tls_socket(port, name: nil, session: nil, context: OpenSSL::SSL::SSLContext.new)
    socket = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", port), context)
    socket.sync_close = true
    socket.hostname = name if name
    socket.session = session if session
    socket.connect
  rescue
    socket&.close
    raise
  end
end
