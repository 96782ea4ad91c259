# frozen_string_literal: true

class LiveController < ActionController::Base
  include ActionController::Live

  # The second event waits until the client has received the first.
  def index
    response.headers["content-type"] = "text/event-stream"
    response.stream.write("data: first\n\n")
    Barrier.wait("meet", params[:size].to_i)
    response.stream.write("data: second\n\n")
  ensure
    response.stream.close
  end
end
