# frozen_string_literal: true

# For servers of a few lines, which tests write as programs of their own.
module ServerProgram
  # The text of `receive(socket)`: a request's first line, its headers by their names in small letters, and its body;
  # nil at the end of the connection.
  RECEIVE = <<~RUBY
    require "socket"
    def receive(socket)
      line = socket.gets or return
      headers = {}
      until (header = socket.gets.chomp).empty?
        name, value = header.split(": ", 2)
        headers[name.downcase] = value
      end
      [line, headers, socket.read(headers["content-length"].to_i)]
    end
  RUBY
end
