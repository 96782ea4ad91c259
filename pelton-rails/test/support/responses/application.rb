# frozen_string_literal: true

# An application that answers in each of the ways in which applications of Rails answer, for same_responses_test.rb. It
# runs on each version since 7.0.
require_relative "config/application"

# What a middleware knows of the request.
class Current < ActiveSupport::CurrentAttributes
  attribute :path
end

ResponsesApplication.config.middleware.use(Class.new do
  def initialize(app)
    @app = app
  end

  def call(env)
    Current.path = env["PATH_INFO"]
    @app.call(env)
  end
end)

ENV["DATABASE_URL"] = "sqlite3:#{__dir__}/responses.sqlite3?timeout=2000&pool=10"
Rails.application.initialize!
require_relative "storage"

class PagesController < ActionController::Base
  rescue_from(IndexError) { |error| render plain: "rescued: #{error.message}", status: :conflict }

  def plain = render(plain: "hello")

  def show
    @title = "A page for #{params[:name]}"
  end

  def formats
    respond_to do |format|
      format.html { render html: "<p>html</p>".html_safe }
      format.json { render json: {format: "json", umlaut: "ü"} }
      format.xml { render xml: {format: "xml"} }
    end
  end

  def fresh
    render plain: "fresh" if stale?(etag: "one", last_modified: Time.utc(2024, 1, 2), public: true)
  end

  def expiring
    expires_in 10.minutes, public: true, stale_while_revalidate: 1.minute
    render plain: "kept for a while"
  end

  def nothing = head(:no_content)

  def created = head(:created, location: "/plain", x_several: "1")

  def moved = redirect_to("/plain?from=moved")

  def see_other = redirect_back(fallback_location: "/plain", status: :see_other)

  def file = send_file(Rails.root.join("public/numbers.txt"), type: "text/plain", disposition: "inline")

  def served # as Active Storage serves what lies on the disk
    Rack::Files.new(nil).serving(request, Rails.root.join("public/numbers.txt").to_s).tap do |status, headers, body|
      self.status = status
      self.response_body = body
      headers.each { |name, value| response.headers[name] = value }
    end
  end

  def data = send_data("\x00\x01binary\xFF".b, filename: "bytes ü.bin", type: "application/octet-stream")

  def rescued = raise(IndexError, "a rescued error")

  def failing = raise("on purpose")

  def forbidden = raise(ActionController::BadRequest, "not so")

  # What the application sees of the request.
  def echo
    facts =
      %i[request_method fullpath original_fullpath url protocol host port remote_ip content_length media_type format
        xhr? ssl? raw_post]
    render json: facts.to_h { |name|
      [name, request.public_send(name).to_s]
    }.merge(params: params.to_unsafe_h, env: request.env.slice(
      "REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "REQUEST_URI", "SERVER_NAME", "SERVER_PROTOCOL",
      "HTTP_HOST", "HTTP_X_TWICE", "HTTP_ACCEPT", "HTTP_EMPTY", "CONTENT_TYPE", "CONTENT_LENGTH", "REMOTE_ADDR"
    ))
  end
  skip_forgery_protection only: %i[echo upload]

  def upload
    file = params[:file]
    content = file ? file.read : request.body.read
    render json: {size: content.bytesize, sum: Digest::SHA256.hexdigest(content), name: file&.original_filename,
                  type: file&.content_type, note: params[:note]}
  end
end

# Cookies, the session, the flash and the token against forgery.
class StateController < ActionController::Base
  def set_cookies
    cookies[:plain] = "a b;c"
    cookies.signed[:signed] = {value: {"user" => 7}, httponly: true, same_site: :strict}
    cookies.encrypted[:encrypted] = {value: "secret", expires: Time.utc(2040), path: "/state", secure: request.ssl?}
    cookies.delete(:other)
    render plain: "set"
  end

  def read_cookies = render(json: [cookies[:plain], cookies.signed[:signed], cookies.encrypted[:encrypted]])

  def set_session
    session[:visits] = session[:visits].to_i + 1
    render plain: "visit #{session[:visits]}"
  end

  def reset
    reset_session
    render plain: "reset"
  end

  def set_flash = redirect_to("/state/read_flash", notice: "saved", alert: "careful")

  def read_flash = render(json: flash.to_h)

  def form = render(plain: form_authenticity_token)

  def submit = render(plain: "accepted #{params[:word]}")
end

# Responses that are made while they are sent.
class StreamsController < ActionController::Base
  def enumerator
    response.headers["last-modified"] = Time.utc(2024).httpdate # or Rack::ETag collects the whole
    self.response_body = Enumerator.new { |parts| 3.times { |number| parts << "part #{number}\n" } }
  end

  def sized
    response.headers["content-length"] = "12"
    self.response_body = Enumerator.new { |parts| 2.times { parts << "12345\n" } }
  end

  # Rails 7.1 and later
  def body = self.response_body = ->(stream) { 3.times { |number| stream.write("part #{number}\n") } && stream.close }
end

class LiveController < ActionController::Base
  include ActionController::Live

  def parts
    3.times { |number| response.stream.write("part #{number}\n") }
  ensure
    response.stream.close
  end

  def events
    response.headers["content-type"] = "text/event-stream"
    response.headers["last-modified"] = Time.utc(2024).httpdate
    events = SSE.new(response.stream, retry: 300, event: "tick")
    2.times { |number| events.write({number: number}, id: number) }
  ensure
    events.close
  end

  def download
    send_stream(filename: "rows.csv") { |stream| 3.times { |number| stream.write("row,#{number}\n") } }
  end

  def state
    session[:live] = "seen"
    cookies[:live] = "yes"
    response.stream.write("session #{session[:visits].inspect}, #{Current.path}")
  ensure
    response.stream.close
  end

  def failing_early = raise("before a byte")
end
