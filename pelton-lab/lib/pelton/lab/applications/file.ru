# frozen_string_literal: true

# A file as the body, in the way of Rack's own middleware: servers that can send it by sendfile.
class FileBody
  attr_reader :to_path

  def initialize(path)
    @to_path = path
  end

  def each
    File.open(to_path, "rb") { |file| file.each(nil, 65_536) { |piece| yield piece } }
  end
end

run lambda { |_env|
  body = FileBody.new(ENV.fetch("FILE"))
  [200, {"content-type" => "application/octet-stream", "content-length" => File.size(body.to_path).to_s}, body]
}
