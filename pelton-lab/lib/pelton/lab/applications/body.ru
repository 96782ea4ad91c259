# frozen_string_literal: true

require "digest"

# Reads the request's body and answers with its length: at /json at once, at other paths piece by piece. At /digest the
# answer is its digest.
pieces = lambda do |input, &block|
  buffer = "".b
  block.call(buffer) while input.read(65_536, buffer)
end

run lambda { |env|
  input = env["rack.input"]
  case env["PATH_INFO"]
  when "/json" then answer = input.read.bytesize.to_s
  when "/digest"
    digest = Digest::SHA256.new
    pieces.call(input) { |piece| digest << piece }
    answer = digest.hexdigest
  else
    bytes = 0
    pieces.call(input) { |piece| bytes += piece.bytesize }
    answer = bytes.to_s
  end
  [200, {"content-type" => "text/plain", "content-length" => answer.bytesize.to_s}, [answer]]
}
