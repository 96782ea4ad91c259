# frozen_string_literal: true

module Admin
  class BotsController < BaseController
    def index
      @bots = Bot.order(:id).eager(:user).all
    end

    # The token is shown once.
    def create
      form = params.require(:bot).permit(:name, :webhook_url)
      @bot, @token = Bot.make(form[:name], form[:webhook_url])
      headers["cache-control"] = "no-store"
      index
      render :index, status: 201
    rescue Sequel::ValidationFailed => error
      redirect_to admin_bots_path, alert: error.message
    end

    # Its messages stay.
    def destroy
      bot = Bot.with_pk!(params.integer(:id))
      bot.user.active = false
      bot.destroy
      redirect_to admin_bots_path, notice: "#{bot.user.name} is removed."
    end
  end
end
