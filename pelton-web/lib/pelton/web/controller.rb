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
      #   @return [Class] the {Controller} whose actions the routes' blocks are; they use its filters, `rescue_from` and
      #     methods
      setting(:block_controller, ->(_) { Controller }) do |value|
        "must be a subclass of Pelton::Web::Controller" unless value.is_a?(Class) && value <= Controller
      end
    end

    # Responds to requests: each public method of a subclass is an action. An object serves one request.
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
    # An action responds once, by `render`, `head`, `redirect_to` or another method in the folder `controller/`. Those
    # call {#answer}, which raises {AnswerError} the second time. A before filter that responds halts the action. An
    # action that has not responded calls {#answer_by_default}.
    #
    # For the framework's own modules in `controller/`: `finish_with :commit_session, if: :@session` registers a method
    # to call after the action, its filters and `rescue_from` handlers, before the server gets the response, in order of
    # registration, if the instance variable is neither nil nor false. It is not called if an error leaves the action.
    # `initialize` sets no variables for modules: they are nil until set.
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

      # @return [Response] created on first use: an action that returns text needs none
      def response = @response ||= Response.new

      # @return [Request] the request that this object serves
      def request = @request ||= Request.new(@env, @settings)

      # @return [Params] of the path, the query and the form; the path takes precedence
      # @raise [BadRequest] if they cannot be parsed
      # @asynchronous while the form is still arriving
      def params = @params ||= Params.of(request, @captures)

      # @return [Hash{String => String}] the response's headers
      def headers = response.headers

      # @return [Boolean] whether the action has responded
      def performed? = @response&.answered? || false

      # @return [String] the running action's name: "show"
      def action_name = @_action.name

      # @private What {Routes::Urls} puts before paths and URLs.
      def url_prefix = @env["SCRIPT_NAME"].to_s

      # @private
      def url_base = request.base_url

      private

      # Responds.
      #
      # @param body [String, #each, #call] a String, or Rack's body
      # @param type [String, nil] the content-type
      # @raise [AnswerError] if the action has already responded
      def answer(body, type: nil, status: nil)
        response = self.response
        if response.answered?
          raise AnswerError, "the action has answered already: it may call render, head or redirect_to once"
        end
        response.status = Rack::Utils.status_code(status) if status
        response.headers["content-type"] = type if type && !response.headers.key?("content-type")
        response.body = body
        nil
      end
    end
  end
end
