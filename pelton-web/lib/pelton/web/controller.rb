# frozen_string_literal: true

require_relative "controller/filters"
require_relative "controller/rescues"
require_relative "controller/actions"
require_relative "controller/answering"
require_relative "controller/rendering"
require_relative "controller/redirecting"
require_relative "controller/negotiation"
require_relative "controller/conditional"
require_relative "controller/files"
require_relative "controller/streaming"
require_relative "controller/paging"
require_relative "controller/blocks"
require_relative "controller/sessions"
require_relative "controller/forgery"
require_relative "controller/authentication"
require_relative "controller/rate_limiting"

module Pelton
  module Web
    class Settings
      # @!attribute block_controller
      #   @return [Class] the {Controller} whose actions the blocks of routes are: its filters, `rescue_from` and methods are theirs, too
      setting(:block_controller, ->(_) { Controller }) { |value| "must be a subclass of Pelton::Web::Controller" unless value.is_a?(Class) && value <= Controller }
    end

    # Answers requests: each public method of a subclass is an action. An object serves one request.
    #
    #     class PostsController < Pelton::Web::Controller
    #       before_action :sign_in, only: :create
    #       rescue_from(KeyError) { |error| head 404 }
    #
    #       def show
    #         render json: {id: params.integer(:id)}
    #       end
    #     end
    #
    # An action answers once, by `render`, `head`, `redirect_to` or another method of the folder `controller/`. Those methods call
    # {#answer}, which raises {AnswerError} the second time; a before filter that has answered ends the action. An action that has not
    # answered calls {#answer_by_default}.
    #
    # For the parts of the framework, which are modules in `controller/`: a part that has to do something when the action has ended
    # says `finish_with :commit_session, if: :@session`. The method is called after the filters and the `rescue_from` handlers, before the
    # response is given to the server, in the order of registration, and only where the instance variable after `if:` is neither nil nor
    # false. It is not called when an error leaves the action. `initialize` sets no variable for a part: where a part's
    # variable is not set, it is nil.
    class Controller
      include Opaque

      extend Filters
      extend Rescues
      extend Actions
      extend Rendering::Declarations
      extend RateLimiting
      include Rescues::Answers
      include Answering
      include Rendering
      include Redirecting
      include Sessions
      include Forgery
      include Authentication
      include Negotiation
      include Conditional
      include Files
      include Streaming
      include Paging

      # @return [Hash] Rack's env
      attr_reader :env

      # @return [Settings] the application's
      attr_reader :settings

      # @private
      def initialize(env, captures, settings)
        @env = env
        @captures = captures
        @settings = settings
      end

      # @return [Response] made when it is asked for: an action that returns text needs none
      def response = @response ||= Response.new

      def request = @request ||= Request.new(@env, @settings)

      # @return [Params] of the path, the query and the form; the path's win
      # @raise [BadRequest] they cannot be read
      # @asynchronous where the form is still arriving
      def params = @params ||= Params.of(request, @captures)

      # @return [Hash{String => String}] the headers of the answer
      def headers = response.headers

      # @return [Boolean] whether the request has its answer already
      def performed? = @response&.answered? || false

      # @return [String] the action that is running: "show"
      def action_name = @_action.name

      # @private What {Routes::Urls} puts before paths and URLs.
      def url_prefix = @env["SCRIPT_NAME"].to_s

      # @private
      def url_base = request.base_url

      private

      # Gives the answer.
      #
      # @param body [String, #each, #call] a String, or Rack's body
      # @param type [String, nil] the content-type
      # @raise [AnswerError] there is an answer already
      def answer(body, type: nil, status: nil)
        response = self.response
        raise AnswerError, "the action has answered already: it may call render, head or redirect_to once" if response.answered?
        response.status = Rack::Utils.status_code(status) if status
        response.headers["content-type"] = type if type && !response.headers.key?("content-type")
        response.body = body
        nil
      end
    end
  end
end
